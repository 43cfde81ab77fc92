#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "backend/backend.hpp"

namespace grove::python {

/// Resolved. Collective; InputError on all ranks together if there is no such backend.
BackendChoice backend_of(const Communicator& comm, const std::string& name, bool share_gpu);

/// forces(): see grove/__init__.py.
void add_forces(pybind11::module_& module);

}  // namespace grove::python
