#include "snapshots.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "base/display_units.hpp"
#include "base/errors.hpp"
#include "base/units.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "runtime.hpp"

namespace py = pybind11;

namespace grove::python {
namespace {

Dimension dimension_of(const std::array<int, 3>& exponents) {
  return {exponents[0], exponents[1], exponents[2]};
}

Units units_of_sizes(double length_cm, double mass_g, double velocity_cm_s) {
  for (const double size : {length_cm, mass_g, velocity_cm_s})
    if (!(size > 0 && std::isfinite(size)))
      throw InputError(fmt::format("units: a size of {}; expected a positive number", size));
  return Units::of(length_cm, mass_g, velocity_cm_s);
}

void add_units(py::module_& module) {
  py::class_<Units>(module, "Units", "Units of a file or a run: their sizes in CGS, and G in them.")
      .def_static("galactic", &Units::galactic, "kpc, 1e10 Msun, km/s.")
      .def_static("none", &Units::dimensionless, "N-body units: G = 1.")
      .def_static("of", &units_of_sizes, py::arg("length_cm"), py::arg("mass_g"), py::arg("velocity_cm_s"),
                  "Units of these sizes in CGS.")
      .def_readonly("length_cm", &Units::length_cm)
      .def_readonly("mass_g", &Units::mass_g)
      .def_readonly("velocity_cm_s", &Units::velocity_cm_s)
      .def_readonly("G", &Units::gravitational_constant, "Newton's constant in these units.")
      .def_property_readonly("is_dimensionless", &Units::is_dimensionless)
      .def("name",
           [](const Units& units, const std::array<int, 3>& exponents) {
             return units.is_dimensionless() ? std::string() : units.name(dimension_of(exponents));
           })
      .def("parse",
           [](const Units& units, const std::string& text, const std::array<int, 3>& exponents) {
             return units.parse(text, dimension_of(exponents));
           })
      .def("shown",
           [](const Units& units, double value, const std::array<int, 3>& exponents) {
             return DisplayUnits(units).text(value, dimension_of(exponents));
           })
      .def("__repr__",
           [](const Units& units) {
             if (units.is_dimensionless()) return std::string("<Units: N-body, G = 1>");
             return fmt::format("<Units: {}, {}, {}>", units.name(dimension::length),
                                units.name(dimension::mass), units.name(dimension::velocity));
           })
      .def("__eq__", [](const Units& a, const Units& b) { return a == b; });
}

py::dict load(const std::string& path, const Units& unstated, const std::optional<Units>& convert_to,
              bool comoving) {
  const Communicator& comm = Runtime::instance().world();
  Snapshot snapshot = unlocked([&] {
    return read_snapshot(comm, path, {.unstated = unstated, .convert_to = convert_to, .comoving = comoving});
  });
  py::dict result = arrays_of(std::move(snapshot.particles));
  const SnapshotHeader& header = snapshot.header;
  result["time"] = header.time;
  result["redshift"] = header.redshift;
  result["box_size"] = py::make_tuple(header.box_size.x, header.box_size.y, header.box_size.z);
  result["is_periodic"] = header.is_periodic;
  result["is_comoving"] = comm.broadcast(!header.comoving.empty());
  result["h"] = comm.broadcast(header.h);
  result["units"] = header.units;
  result["states_units"] = header.file_units.has_value();
  result["counts"] = header.counts;
  result["files"] = header.files;
  result["format"] = name_of(header.format);
  result["leaf_size"] = header.leaf_size;
  return result;
}

void write(const std::string& path, const ParticleInput& input, const Units& units, double time, int files,
           bool overwrite) {
  const Communicator& comm = Runtime::instance().world();
  comm.together([&] {
    if (!std::isfinite(time)) throw InputError(fmt::format("time: {}; expected a finite number", time));
  });
  Particles particles = particles_of(comm, input);
  unlocked([&] {
    if (!overwrite) require_absent(comm, path, files);
    validate_ids(comm, particles, {.source = path});
    write_snapshot(comm, path, particles,
                   {.time = time, .units = units, .fields = initial_fields(), .files = files});
  });
}

}  // namespace

void require_absent(const Communicator& comm, const std::string& path, int files) {
  comm.together([&] {
    if (!comm.is_master()) return;
    for (const std::string& name : snapshot_files(path, files))
      if (std::filesystem::exists(name))
        throw InputError(fmt::format("{}: exists; give another name, or overwrite=True", name));
  });
}

void add_snapshots(py::module_& module) {
  add_units(module);
  module.def("load", &load, py::arg("path"), py::arg("unstated"), py::arg("convert_to"), py::arg("comoving"));
  module.def(
      "write",
      [](const std::string& path, Input<double> positions, Input<double> velocities, Input<double> masses,
         std::optional<py::array> types, std::optional<py::array> ids,
         std::optional<Input<double>> internal_energies, const Units& units, double time, int files,
         bool overwrite) {
        write(path, {positions, masses, velocities, ids, types, internal_energies}, units, time, files,
              overwrite);
      },
      py::arg("path"), py::kw_only(), py::arg("positions"), py::arg("velocities"), py::arg("masses"),
      py::arg("types"), py::arg("ids"), py::arg("internal_energies"), py::arg("units"), py::arg("time"),
      py::arg("files"), py::arg("overwrite"));
}

}  // namespace grove::python
