#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "comm/communicator.hpp"

namespace grove::python {

/// Collective. InputError if a file is there already that this snapshot would replace.
void require_absent(const Communicator& comm, const std::string& path, int files);

/// Units, load() and write(): see grove/__init__.py.
void add_snapshots(pybind11::module_& module);

}  // namespace grove::python
