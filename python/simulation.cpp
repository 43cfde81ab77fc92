#include "simulation.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "base/errors.hpp"
#include "cosmology/expansion.hpp"
#include "forces.hpp"
#include "io/parameters.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "run/simulation.hpp"
#include "run/start/initial_state.hpp"
#include "run/start/periodic_box.hpp"
#include "runtime.hpp"
#include "snapshots.hpp"

namespace py = pybind11;

namespace grove::python {
namespace {

/// The file that simulation.py names where particles are arrays.
constexpr std::string_view no_file = "arrays";

/// Says that nobody but the parameters knows the edge of a periodic box, if particles are arrays.
double edge_beside_arrays(const Parameters& parameters) {
  if (parameters.initial_conditions.file == no_file)
    throw InputError("particles are arrays here: give box.size");
  return 0;
}

/// The source of the parameters: a file, or a text made from a dictionary.
struct ParameterSource {
  std::optional<std::string> path;
  std::string text;
  std::vector<std::string> overrides;

  Parameters read(const Communicator& comm) const {
    if (path) return read_parameters(comm, *path, overrides, edge_beside_arrays);
    return resolve_parameters(comm, text, "parameters", overrides, edge_beside_arrays);
  }
};

void scale_energies(Particles& particles, double by) {
  for (double& energy : particles.internal_energy) energy *= by;
}

/// Particles of type 0 on all ranks.
Count gas_of(const Communicator& comm, const Particles& particles) {
  return comm.sum(static_cast<Count>(std::count(particles.type.begin(), particles.type.end(), gas_type)));
}

/// Particles that the user brings; the time is that of time.begin, internal energies are physical.
InitialState state_of(const Communicator& comm, const Parameters& parameters, const ParticleInput& input) {
  comm.together([&] {
    if (parameters.universe && !parameters.time.begin)
      throw InputError("time.begin must be given: arrays do not tell the redshift that they are of");
  });
  InitialState state;
  state.particles = particles_of(comm, input);
  state.time = parameters.time.begin.value_or(0);
  if (parameters.universe)
    scale_energies(state.particles, std::pow(Expansion(*parameters.universe).scale_factor(state.time),
                                             parameters.gas.expansion_power()));
  const Count of_type = gas_of(comm, state.particles);
  const bool has_gas = state.particles.has_gas;
  state.remarks = remarks_on_use_of_gas(parameters, has_gas ? of_type : 0);
  if (std::string remark = remark_on_gas("particles", of_type, has_gas); !remark.empty())
    state.remarks.push_back(std::move(remark));
  validate(comm, state.particles,
           {.source = "particles",
            .tracer = parameters.initial_conditions.tracer,
            .softening = parameters.gravity.softening,
            .softened = parameters.softened,
            .leaves = parameters.decomposition.leaves});
  if (parameters.box.periodic) {
    require_periodic_box(comm, parameters, state.particles, nullptr);
    require_mean_density(comm, parameters, state.particles, "particles");
  }
  return state;
}

Particles in_order_of_ids(Particles particles) {
  std::vector<std::uint32_t> order(particles.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return particles.id[a] < particles.id[b]; });
  particles.reorder(order);
  return particles;
}

class PythonSimulation : public Resource {
 public:
  PythonSimulation(const ParameterSource& source, const std::optional<ParticleInput>& input,
                   const std::string& backend, bool share_gpu)
      : comm_(Runtime::instance().world()), parameters_(source.read(comm_)) {
    const BackendChoice choice = backend_of(comm_, backend, share_gpu);
    std::optional<InitialState> given;
    if (input) given = state_of(comm_, parameters_, *input);
    unlocked([&] {
      InitialState state = given ? std::move(*given) : initial_state(comm_, parameters_);
      remarks_ = std::move(state.remarks);
      DecompositionParameters& decomposition = parameters_.decomposition;
      if (decomposition.leaf_size == 0 && decomposition.leaves == 0)
        decomposition.leaf_size = state.leaf_size;
      simulation_ = std::make_unique<Simulation>(
          comm_, parameters_,
          make_backend(comm_, choice, std::move(state.particles), parameters_.gravity, parameters_.gas),
          state.time);
    });
  }

  void release() override { simulation_.reset(); }

  void step() {
    require_time_left();
    unlocked([&] { simulation().step(); });
    check_interrupt();
  }

  /// Steps to the end, or to the first step that reaches a time. callback: called where all particles are
  /// synchronised; ends it by returning True, on any rank.
  void run(double until, const py::object& callback) {
    const double same = 1e-9 * parameters_.time.step;
    while (!simulation().is_done() && simulation().time() < until - same) {
      step();
      if (!callback.is_none() && simulation().is_synchronised() && ends(callback)) return;
    }
  }

  py::dict particles() const {
    return arrays_of(unlocked([&] {
      Particles present = in_order_of_ids(simulation().present_particles());
      if (parameters_.universe)
        scale_energies(present, std::pow(simulation().scale_factor(), -parameters_.gas.expansion_power()));
      return present;
    }));
  }

  py::dict totals() const {
    if (!simulation().is_synchronised())
      throw Agreed<InputError>(
          fmt::format("time {} lies inside a longest step, where velocities are of different times; totals "
                      "are known where `synchronised` is true",
                      shown_time(simulation().time())));
    const Totals totals = unlocked([&] { return simulation().totals(); });
    const auto vector = [](const Vec3d& v) { return py::make_tuple(v.x, v.y, v.z); };
    py::dict result;
    result["mass"] = totals.mass;
    result["kinetic"] = totals.kinetic_energy;
    result["potential"] = totals.potential_energy;
    result["external"] = totals.external_energy;
    result["internal"] = totals.internal_energy;
    result["energy"] = totals.total_energy();
    result["momentum"] = vector(totals.momentum);
    result["angular_momentum"] = vector(totals.angular_momentum);
    result["centre_of_mass"] = vector(totals.centre_of_mass());
    return result;
  }

  void write(const std::string& path, const std::vector<std::string>& fields, int files,
             bool overwrite) const {
    unlocked([&] {
      if (!overwrite) require_absent(comm_, path, files);
      WriteOptions options = simulation().snapshot_options();
      options.fields = fields;
      options.types = all_types;
      options.files = files;
      write_snapshot(comm_, path, simulation().present_particles(), options);
    });
  }

  Simulation& simulation() const {
    if (!simulation_) throw std::runtime_error("the simulation has ended with MPI");
    return *simulation_;
  }
  const Parameters& parameters() const { return parameters_; }
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  /// True if the callback wants so on any rank. If it fails on one it does on all.
  bool ends(const py::object& callback) const {
    enum Outcome : int { goes_on, ends, fails };
    int outcome = goes_on;
    std::optional<py::error_already_set> error;
    try {
      if (py::bool_(callback())) outcome = Outcome::ends;
    } catch (py::error_already_set& raised) {
      outcome = fails;
      error.emplace(raised);
    }
    const int agreed = comm_.max(outcome);
    if (error) throw *error;
    if (agreed == fails) throw Agreed<std::runtime_error>("the callback failed on another rank");
    return agreed == Outcome::ends;
  }

  std::string shown_time(double time) const { return parameters_.shown.text(time, dimension::time); }

  void require_time_left() const {
    if (simulation().is_done())
      throw Agreed<InputError>(fmt::format("the run is complete: time.end = {} was reached; give a later one",
                                           shown_time(parameters_.time.end)));
  }

  const Communicator& comm_;
  Parameters parameters_;
  std::vector<std::string> remarks_;  ///< on the particles, or files that they come from
  std::unique_ptr<Simulation> simulation_;
};

std::optional<ParticleInput> input_of(const std::optional<Input<double>>& positions,
                                      const std::optional<Input<double>>& velocities,
                                      const std::optional<Input<double>>& masses,
                                      const std::optional<py::array>& types,
                                      const std::optional<py::array>& ids,
                                      const std::optional<Input<double>>& internal_energies) {
  if (!positions) return std::nullopt;
  return ParticleInput{*positions, *masses, velocities, ids, types, internal_energies};
}

}  // namespace

void add_simulation(py::module_& module) {
  module.def("units_of", [](const std::optional<std::string>& path, const std::string& text,
                            const std::vector<std::string>& overrides) {
    return ParameterSource{path, text, overrides}.read(Runtime::instance().world()).units;
  });
  using S = PythonSimulation;
  py::class_<S>(module, "Simulation")
      .def(py::init([](const std::optional<std::string>& path, const std::string& text,
                       const std::vector<std::string>& overrides, std::optional<Input<double>> positions,
                       std::optional<Input<double>> velocities, std::optional<Input<double>> masses,
                       std::optional<py::array> types, std::optional<py::array> ids,
                       std::optional<Input<double>> internal_energies, const std::string& backend,
                       bool share_gpu) {
             return std::make_unique<S>(
                 ParameterSource{path, text, overrides},
                 input_of(positions, velocities, masses, types, ids, internal_energies), backend, share_gpu);
           }),
           py::arg("path"), py::arg("text"), py::arg("overrides"), py::arg("positions"),
           py::arg("velocities"), py::arg("masses"), py::arg("types"), py::arg("ids"),
           py::arg("internal_energies"), py::arg("backend"), py::arg("share_gpu"))
      .def("step", &S::step)
      .def("run", &S::run, py::arg("until"), py::arg("callback"))
      .def("particles", &S::particles)
      .def("totals", &S::totals)
      .def("write", &S::write, py::arg("path"), py::arg("fields"), py::arg("files"), py::arg("overwrite"))
      .def_property_readonly("time", [](const S& s) { return s.simulation().time(); })
      .def_property_readonly("time_text", [](const S& s) { return s.simulation().time_text(); })
      .def_property_readonly("scale_factor", [](const S& s) { return s.simulation().scale_factor(); })
      .def_property_readonly("end", [](const S& s) { return s.parameters().time.end; })
      .def_property_readonly("longest_steps", [](const S& s) { return s.simulation().longest_steps_done(); })
      .def_property_readonly("synchronised", [](const S& s) { return s.simulation().is_synchronised(); })
      .def_property_readonly("done", [](const S& s) { return s.simulation().is_done(); })
      .def_property_readonly("count", [](const S& s) { return s.simulation().forces().particles; })
      .def_property_readonly("remarks", &S::remarks)
      .def_property_readonly("asks_for_snapshots",
                             [](const S& s) {
                               const OutputParameters& output = s.parameters().output;
                               return output.every.has_value() || !output.times.empty();
                             })
      .def_property_readonly("units", [](const S& s) { return s.parameters().units; })
      .def_property_readonly("softening", [](const S& s) { return s.parameters().gravity.softening; })
      .def_property_readonly("parameters", [](const S& s) { return used_parameters(s.parameters()); });
}

}  // namespace grove::python
