#pragma once

#include <pybind11/pybind11.h>

namespace grove::python {

/// The class Simulation that grove/simulation.py dresses.
void add_simulation(pybind11::module_& module);

}  // namespace grove::python
