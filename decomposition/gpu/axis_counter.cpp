#include "decomposition/gpu/axis_counter.hpp"

#include "decomposition/services/all.hpp"

namespace grove {

std::vector<ServiceEntry> AxisCounterRank::services() {
  std::vector<ServiceEntry> entries = HostRank::services();
  for (ServiceEntry& entry : entries) {
    if (entry.name == services::Init::name) entry = service_entry<services::Init>(counter_);
    if (entry.name == services::MakeAxis::name) entry = service_entry<services::MakeAxis>(counter_);
    if (entry.name == services::CountLeft::name) entry = service_entry<services::CountLeft>(counter_);
  }
  return entries;
}

void AxisCounterRank::end_services() {
  counter_.counts.reset();
  HostRank::end_services();
}

namespace services {
namespace {

cuda::AxisCounts::Part part_of(const AxisCounter& own, std::int32_t cell) {
  const auto c = static_cast<std::size_t>(cell);
  return {static_cast<std::uint64_t>(own.host.begin[c]),
          static_cast<std::uint64_t>(own.host.end[c] - own.host.begin[c])};
}

}  // namespace

void Init::run(AxisCounter& own, std::span<const Input> input, std::span<Output> answer) {
  run(own.host, input, answer);
  own.counts.emplace(own.host.axis);
}

void MakeAxis::run(AxisCounter& own, std::span<const Input> input, std::span<Output> answer) {
  run(own.host, input, answer);
  if (own.host.weight) return;
  for (const Input& choice : input) own.counts->upload(part_of(own, choice.cell));
}

void CountLeft::run(AxisCounter& own, std::span<const Input> input, std::span<Output> answer) {
  if (own.host.weight) return run(own.host, input, answer);
  std::vector<cuda::AxisCounts::Part> parts;
  for (const Input& cuts : input) parts.push_back(part_of(own, cuts.cell));
  own.counts->count_left(parts, input, own.one_launch_per_cell, answer);
}

}  // namespace services
}  // namespace grove
