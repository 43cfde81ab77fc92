#include "particles/particles.hpp"

#include <type_traits>

namespace grove {

void Particles::resize(std::size_t count) {
  for_each_field([&](const auto& field) { (this->*field.array).resize(count); });
}

void Particles::reset(std::size_t count) {
  for_each_field([&](const auto& field) {
    using T = typename std::remove_cvref_t<decltype(field)>::Value;
    (this->*field.array).assign(count, T{});
  });
}

// Leaves room, so that the few particles that a rank gains at the next migration do not move all the others
// to a larger array. Pages that are never written cost no memory.
void Particles::reorder(std::span<const std::uint32_t> order) {
  for_each_field([&](const auto& field) {
    auto& values = this->*field.array;
    std::remove_reference_t<decltype(values)> sorted;
    sorted.reserve(order.size() + order.size() / 16);
    sorted.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = values[order[i]];
    values.swap(sorted);
  });
}

}  // namespace grove
