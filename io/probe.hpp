#pragma once

#include <functional>
#include <string>

namespace grove {

/// Does work on a file in a child process. InputError if the child dies, or takes more processor time than so
/// many seconds. Exceptions of the work are not reported. By this rank alone.
void try_in_child(const std::string& path, unsigned processor_seconds, const std::function<void()>& work);

/// Opens an HDF5 file in a child process first, with all its datasets, and reads what HDF5 has to search for:
/// HDF5 1.10 may crash or loop on damaged metadata, and shall take the child along, not the run. InputError
/// if the child dies, or takes more processor time than reading could. Faults that HDF5 reports are left to
/// whoever opens the file next. By this rank alone. Cost: datasets that are chunked or virtual are read once,
/// of others two rows.
void probe_hdf5(const std::string& path);

/// The same for whoever reads the header alone: opens the file without its fields. Cost: metadata is read
/// once.
void probe_hdf5_header(const std::string& path);

}  // namespace grove
