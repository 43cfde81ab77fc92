#include "forces.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "backend/backend.hpp"
#include "base/errors.hpp"
#include "gravity/suggested_softening.hpp"
#include "io/validate.hpp"
#include "io/words.hpp"
#include "results.hpp"
#include "runtime.hpp"

namespace py = pybind11;

namespace grove::python {
namespace {

struct ForceChoice {
  /// None: suggested_softening(); none for a type: it has no particles.
  std::optional<std::array<std::optional<double>, particle_types>> softening;
  std::optional<double> delta, theta;  ///< none: as GravityParameters has them
  std::string kernel, criterion;       ///< empty: as GravityParameters has them
  std::string order;                   ///< empty: the usual one
  double gravitational_constant = 1;
  double box = 0;  ///< edge of a periodic one; 0: open space
  bool direct = false;
  Count audit = 1000, leaf_size = 0;
  std::vector<int> tracers;
  BackendChoice backend;
};

void require_positive(const char* name, double value) {
  if (!(value > 0 && std::isfinite(value)))
    throw InputError(fmt::format("{}: {} is out of range; expected a positive number", name, value));
}

template <class Enum>
void choose(const char* name, const std::string& word, Enum& value) {
  if (word.empty()) return;
  const auto values = values_by_word<Enum>();
  const auto found = values.find(word);
  if (found == values.end())
    throw InputError(fmt::format("{}: '{}' is not one of {}", name, word, fmt::join(words<Enum>, ", ")));
  value = found->second;
}

GravityParameters parameters_of(const ForceChoice& choice) {
  GravityParameters gravity;
  if (choice.delta) require_positive("delta", gravity.delta = *choice.delta);
  if (choice.theta) require_positive("theta", gravity.theta = *choice.theta);
  choose("kernel", choice.kernel, gravity.kernel);
  choose("criterion", choice.criterion, gravity.criterion);
  choose("order", choice.order, gravity.order);
  require_positive("G", gravity.gravitational_constant = choice.gravitational_constant);
  if (!(choice.box >= 0 && std::isfinite(choice.box)))
    throw InputError(fmt::format("box_size: {}; give the edge of a periodic box", choice.box));
  gravity.images = {choice.box};
  if (choice.order.empty()) gravity.order = gravity.usual_order();
  if (choice.direct) gravity.direct_below = std::numeric_limits<Count>::max();
  if (choice.softening)
    for (std::size_t type = 0; type < particle_types; ++type)
      gravity.softening[type] = (*choice.softening)[type].value_or(0);
  for (const double softening : gravity.softening)
    if (!(softening >= 0))
      throw InputError(fmt::format("softening: {}; give a length of at least 0", softening));
  if (choice.audit < 0) throw InputError(fmt::format("audit: {}; give a number of particles", choice.audit));
  if (choice.leaf_size < 0)
    throw InputError(fmt::format("leaf_size: {}; give a number of particles", choice.leaf_size));
  return gravity;
}

/// The checks that particles have to pass.
ValidationOptions validation_of(const ForceChoice& choice) {
  ValidationOptions options{.source = "forces", .softening_option = "softening", .tracer_option = "tracers"};
  for (const int type : choice.tracers) {
    if (type < 0 || type >= particle_types)
      throw InputError(fmt::format("tracers: {} is not a particle type, 0 to {}", type, particle_types - 1));
    options.tracer = static_cast<std::uint8_t>(options.tracer | 1u << type);
  }
  for (std::size_t type = 0; choice.softening && type < particle_types; ++type)
    if (!(*choice.softening)[type])
      options.softened = static_cast<std::uint8_t>(options.softened & ~(1u << type));
  return options;
}

/// Twice, as `grove force` does: the first evaluation supplies the |a_old| that the second goes by.
Domain evaluate(Backend& backend, DecompositionParameters decomposition) {
  Domain domain;
  for (int pass = 0; pass < 2; ++pass) {
    unlocked([&] {
      PhaseTimers timers;
      DecompositionReport report;
      domain = backend.decompose(decomposition, domain, report);
      backend.gravity().evaluate(domain, {}, timers);
    });
    check_interrupt();
  }
  return domain;
}

py::dict audit(const Backend& backend, const Domain& domain, Count sample) {
  const AuditResult error = unlocked([&] { return backend.audit(domain, sample); });
  py::dict result;
  result["median"] = error.median;
  result["p99"] = error.p99;
  result["max"] = error.max;
  result["sample"] = error.sample;
  return result;
}

py::dict forces(const ParticleInput& input, const ForceChoice& choice) {
  const Communicator& comm = Runtime::instance().world();
  GravityParameters gravity;
  ValidationOptions validation;
  comm.together([&] {
    gravity = parameters_of(choice);
    validation = validation_of(choice);
  });
  Particles particles = particles_of(comm, input);
  const Array<ParticleId> ids = particles.id;
  const Count count = comm.sum(static_cast<Count>(ids.size()));
  std::unique_ptr<Backend> backend = unlocked([&] {
    if (!choice.softening) gravity.softening.fill(suggested_softening(comm, particles));
    validation.softening = gravity.softening;
    validate(comm, particles, validation);
    comm.together([&] {
      if (!gravity.softening_fits_box())
        throw InputError("softening: is more than a sixteenth of the periodic box; give less");
    });
    auto made = make_backend(comm, choice.backend, std::move(particles), gravity);
    if (!gravity.images.are_open()) made->wrap(Box::periodic(gravity.images.edge));
    return made;
  });
  DecompositionParameters decomposition;
  decomposition.period = gravity.images.edge;
  decomposition.leaf_size = choice.leaf_size > 0 ? choice.leaf_size : default_leaf_size(count);
  const Domain domain = evaluate(*backend, decomposition);
  py::dict result;
  result["error"] = choice.audit > 0 ? py::object(audit(*backend, domain, choice.audit)) : py::none();
  Results results = unlocked([&] {
    Results found;
    backend->show(nullptr, [&](const Particles& evaluated) { found = results_of(comm, ids, evaluated); });
    return found;
  });
  result["accelerations"] = handed_over(std::move(results.acceleration));
  result["potentials"] = handed_over(std::move(results.potential));
  result["softening"] = gravity.softening;
  result["backend"] = backend->traits().name;
  return result;
}

}  // namespace

BackendChoice backend_of(const Communicator& comm, const std::string& name, bool share_gpu) {
  comm.together([&] {
    if (name != "auto" && name != "kokkos" && name != "cuda")
      throw InputError(fmt::format("backend: '{}' is not one of auto, kokkos, cuda", name));
  });
  BackendChoice choice;
  choice.name = name;
  choice.share_gpu = share_gpu;
  resolve(comm, choice);
  if (choice.name == "kokkos") choice.share_gpu = false;
  return choice;
}

void add_forces(py::module_& module) {
  module.def("suggested_softening", [](Input<double> positions, Input<double> masses) {
    const Communicator& comm = Runtime::instance().world();
    const Particles particles = particles_of(comm, {positions, masses, {}, {}, {}});
    return unlocked([&] { return suggested_softening(comm, particles); });
  });
  module.def(
      "forces",
      [](Input<double> positions, Input<double> masses, std::optional<py::array> types,
         std::optional<py::array> ids,
         std::optional<std::array<std::optional<double>, particle_types>> softening,
         std::optional<double> delta, std::optional<double> theta, const std::string& kernel,
         const std::string& criterion, const std::string& order, double G, double box_size, bool direct,
         Count audit, Count leaf_size, const std::string& backend, bool share_gpu,
         const std::vector<int>& tracers) {
        ForceChoice choice{softening, delta,  theta, kernel,    criterion, order, G,
                           box_size,  direct, audit, leaf_size, tracers,   {}};
        choice.backend = backend_of(Runtime::instance().world(), backend, share_gpu);
        return forces({positions, masses, std::nullopt, ids, types}, choice);
      },
      py::kw_only(), py::arg("positions"), py::arg("masses"), py::arg("types"), py::arg("ids"),
      py::arg("softening"), py::arg("delta"), py::arg("theta"), py::arg("kernel"), py::arg("criterion"),
      py::arg("order"), py::arg("G"), py::arg("box_size"), py::arg("direct"), py::arg("audit"),
      py::arg("leaf_size"), py::arg("backend"), py::arg("share_gpu"), py::arg("tracers"));
}

}  // namespace grove::python
