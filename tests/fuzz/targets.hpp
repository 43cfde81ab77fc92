#pragma once

#include <cstdint>
#include <span>

/// The fuzzers call these with bytes of their making: each reads them as one kind of input. Any input may be
/// refused with an InputError; all else that may happen (another exception, a crash, a hang, memory without
/// bound) is a fault. Needs MPI.
namespace grove::fuzz {

/// A parameter file. One that is taken must be taken again as it is written beside the output, with the same
/// values.
void parameters(std::span<const std::uint8_t> bytes);

/// A snapshot, of whichever format recognises it: GADGET binary, tipsy.
void snapshot(std::span<const std::uint8_t> bytes);

/// A program of changes to the attributes and datasets of a good HDF5 snapshot, which then is read.
void hdf5_changes(std::span<const std::uint8_t> bytes);

}  // namespace grove::fuzz
