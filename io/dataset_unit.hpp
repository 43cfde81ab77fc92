#pragma once

#include <string>

#include "base/units.hpp"
#include "io/hdf5.hpp"

namespace grove {

/// Writes the attributes of a dataset that tell its unit: GADGET-4's, powers of the scale factor, h and the
/// basic units, and its size; and the same as EAGLE and OWLS say it, which is what pynbody reads.
void write_unit_of(hid_t dataset, const Dimension& dimension, const Units& units, double a_power,
                   double h_power, const std::string& path);

}  // namespace grove
