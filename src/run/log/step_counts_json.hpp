#pragma once

#include <nlohmann/json.hpp>

#include "step_counts.hpp"

namespace grove {

/// An object of the counts of the whole step by name, and in `phases` those that each phase has.
nlohmann::ordered_json json_of(const StepCounts& counts);

}  // namespace grove
