#pragma once

#include <pybind11/pybind11.h>

namespace grove::python {

/// Units, load() and write(): see grove/__init__.py.
void add_snapshots(pybind11::module_& module);

}  // namespace grove::python
