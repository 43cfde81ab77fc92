#include "step_counts_json.hpp"

namespace grove {
nlohmann::ordered_json json_of(const StepCounts& counts) {
  nlohmann::ordered_json json, phases = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < StepCounts::names.size(); ++i) {
    json[StepCounts::names[i]] = counts.all()[i];
    for (std::size_t phase = 0; phase < counts.phases().size(); ++phase)
      if (const std::uint64_t count = counts.by_phase()[phase][i]; count > 0)
        phases[counts.phases()[phase]][StepCounts::names[i]] = count;
  }
  json["phases"] = std::move(phases);
  return json;
}

}  // namespace grove
