// The part of the module `grove` that computes; what a user sees is in grove/*.py.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "base/build_info.hpp"
#include "forces.hpp"
#include "runtime.hpp"
#include "simulation.hpp"
#include "snapshots.hpp"

namespace py = pybind11;

namespace grove::python {
namespace {

/// Sums and extremes over ranks, element by element.
void add_reductions(py::module_& module) {
  module.def("sum", [](Input<std::int64_t> values) {
    Array<std::int64_t> sums(values.data(), values.data() + values.size());
    Runtime::instance().world().sum(std::span<std::int64_t>(sums));
    return handed_over(std::move(sums));
  });
  module.def("max", [](double value) { return Runtime::instance().world().max(value); });
  module.def("min", [](double value) { return Runtime::instance().world().min(value); });
  module.def("rank", [] { return Runtime::instance().world().rank(); });
  module.def("size", [] { return Runtime::instance().world().size(); });
}

}  // namespace

PYBIND11_MODULE(_grove, module) {
  add_exceptions(module);
  add_reductions(module);
  add_snapshots(module);
  add_forces(module);
  add_simulation(module);
  module.attr("version") = std::string(build_info().version);
  module.attr("commit") = std::string(build_info().commit);
  module.def("abort", [] { Runtime::instance().abort(); });
  py::module_::import("atexit").attr("register")(py::cpp_function([] { Runtime::instance().end(); }));
}

}  // namespace grove::python
