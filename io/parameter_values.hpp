#pragma once

#include "base/units.hpp"
#include "io/parameter_entries.hpp"
#include "io/parameters.hpp"
#include "io/schema.hpp"

namespace grove {

/// Reads the value of an entry and stores it in the place that its row names. units: of bare numbers. An
/// element of a list must be there. InputError, which says where the entry stands: it is no such value, or
/// out of range.
void store(Parameters& parameters, const Entry& entry, const schema::Row& row, const Units& units);

}  // namespace grove
