#pragma once

#include <vector>

#include "comm/communicator.hpp"

namespace grove {

/// The value below which a fraction of all ranks' values lie, to 2^-30 of their span; 0 if there are none.
/// The same on any number of ranks. Collective. Cost: three passes over the values, each with a reduction of
/// 1024 counts.
double quantile(const Communicator& comm, const std::vector<double>& values, double fraction);

}  // namespace grove
