#pragma once

#include <functional>
#include <string>

#include "comm/communicator.hpp"

namespace grove {

/// Appends a checksum of the whole file behind its end: 32 bytes, which HDF5 does not look at and cuts off
/// when another program changes the file. The same bytes on any number of ranks. Collective; the file is
/// closed and has no checksum yet. InputError on all ranks together if it cannot be read or written.
///
/// The checksum is the sum, modulo 2^64, of XXH3 over blocks of 4 MiB, each seeded with its number. Cost:
/// each rank reads its share of the file once.
void append_checksum(const Communicator& comm, const std::string& path);

/// True if the file ends with a checksum, which then is right: InputError on all ranks together if it is
/// wrong, or cut off behind the eighth of its bytes. Collective; same cost. Only a file has a checksum.
/// pause: see ReadOptions.
bool has_right_checksum(const Communicator& comm, const std::string& path,
                        const std::function<void()>& pause = {});

}  // namespace grove
