#include "particles/particles.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace grove {

void Particles::resize(std::size_t count) {
  for_each_field([&](const auto& field) {
    if (holds(field.info)) (this->*field.array).resize(count);
  });
}

void Particles::reset(std::size_t count) {
  for_each_field([&](const auto& field) {
    using T = typename std::remove_cvref_t<decltype(field)>::Value;
    if (holds(field.info)) (this->*field.array).assign(count, T{});
  });
}

void Particles::hold_gas() {
  if (has_gas) return;
  has_gas = true;
  for_each_field([&](const auto& field) {
    using T = typename std::remove_cvref_t<decltype(field)>::Value;
    if (field.info.of_gas) (this->*field.array).assign(size(), T{});
  });
}

void Particles::forget_gas() {
  has_gas = false;
  for_each_field([&](const auto& field) {
    if (field.info.of_gas) (this->*field.array) = {};
  });
}

// Leaves room, so that the few particles that a rank gains at the next migration do not move all the others
// to a larger array. Pages that are never written cost no memory.
void Particles::reorder(std::span<const std::uint32_t> order) {
  for_each_field([&](const auto& field) {
    if (!holds(field.info)) return;
    auto& values = this->*field.array;
    std::remove_reference_t<decltype(values)> sorted;
    sorted.reserve(order.size() + order.size() / 16);
    sorted.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = values[order[i]];
    values.swap(sorted);
  });
}

void Particles::permute(std::size_t first, std::span<const std::uint32_t> order) {
  for_each_field([&](const auto& field) {
    if (!holds(field.info)) return;
    using T = typename std::remove_cvref_t<decltype(field)>::Value;
    thread_local std::vector<T> moved;
    const auto& values = this->*field.array;
    moved.clear();
    for (const std::uint32_t from : order) moved.push_back(values[from]);
    std::copy(moved.begin(), moved.end(), (this->*field.array).begin() + static_cast<std::ptrdiff_t>(first));
  });
}

}  // namespace grove
