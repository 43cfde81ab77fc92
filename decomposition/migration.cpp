#include "decomposition/migration.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "decomposition/services/rank_particles.hpp"

namespace grove {
namespace {

constexpr std::uint32_t gone = ~std::uint32_t{0};

}  // namespace

Migration::Migration(const Communicator& comm, std::size_t particles, std::vector<std::uint32_t> departing,
                     std::span<const Count> send_counts, std::size_t round_bytes)
    : departing_(std::move(departing)),
      plan_(comm, send_counts, round_bytes),
      size_(particles - departing_.size() + static_cast<std::size_t>(plan_.receive_total())) {
  comm.together([this] { check_size(size_); });
  settle_places(particles);
}

void Migration::settle_places(std::size_t particles) {
  // Holes beyond the new end need not be filled; particles that stay there move into the others.
  std::vector<std::uint32_t> holes;
  new_place_.assign(particles > size_ ? particles - size_ : 0, 0);
  for (const std::uint32_t index : departing_)
    if (index < size_)
      holes.push_back(index);
    else
      new_place_[index - size_] = gone;
  for (auto fresh = static_cast<std::uint32_t>(particles); fresh < size_; ++fresh) holes.push_back(fresh);

  std::size_t next = 0;
  for (std::uint32_t& place : new_place_)
    if (place != gone) place = holes[next++];
  places_.assign(holes.begin() + static_cast<std::ptrdiff_t>(next), holes.end());
}

template <Wire T>
void Migration::move(Array<T>& field) const {
  Array<T> arrived(static_cast<std::size_t>(plan_.receive_total()));
  const auto pack = [&](std::size_t begin, std::span<T> piece) {
    for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = field[departing_[begin + i]];
  };
  plan_.apply(pack, std::span<T>(arrived));
  for (std::size_t i = 0; i < new_place_.size(); ++i)
    if (new_place_[i] != gone) field[new_place_[i]] = field[size_ + i];
  field.resize(size_);
  for (std::size_t j = 0; j < arrived.size(); ++j) field[places_[j]] = arrived[j];
}

void Migration::apply(Particles& particles) const {
  for_each_field([&](const auto& field) {
    auto& values = particles.*field.array;
    if (field.info.migrate)
      move(values);
    else
      values.resize(size_);
  });
}

Particles gathered_by_id(const Communicator& comm, const Particles& mine) {
  Particles all;
  for_each_field([&](const auto& field) {
    using T = typename std::decay_t<decltype(field)>::Value;
    const auto values = comm.all_gather_arrays(std::span<const T>(mine.*field.array));
    (all.*field.array).assign(values.begin(), values.end());
  });
  std::vector<std::uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return all.id[a] < all.id[b]; });
  all.reorder(order);
  return all;
}

}  // namespace grove
