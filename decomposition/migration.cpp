#include "decomposition/migration.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "decomposition/services/rank_particles.hpp"

namespace grove {
namespace {

constexpr std::uint32_t gone = ~std::uint32_t{0};

}  // namespace

Migration::Migration(const Communicator& comm, std::size_t particles, std::vector<std::uint32_t> departing,
                     std::span<const Count> send_counts, std::size_t round_bytes, Count all)
    : Migration(comm, particles, std::move(departing), ExchangePlan(comm, send_counts, round_bytes), all) {}

Migration::Migration(const Communicator& comm, std::size_t particles, std::vector<std::uint32_t> departing,
                     ExchangePlan plan, Count all)
    : departing_(std::move(departing)),
      plan_(std::move(plan)),
      size_(particles - departing_.size() + static_cast<std::size_t>(plan_.receive_total())) {
  check_sizes(comm, size_, all);
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

/// Particles from ranks that sent few, as they arrived: a row of bytes each, field by field.
class Migration::Rows {
 public:
  Rows(const ExchangePlan& plan, std::span<const std::uint32_t> departing, const Particles& particles)
      : plan_(plan),
        row_(bytes_of_fields([&](const FieldInfo& info) { return info.migrate && particles.holds(info); })),
        first_row_{0} {
    const auto offsets = plan.receive_offsets();
    for (std::size_t rank = 0; rank + 1 < offsets.size(); ++rank) {
      const Count received = offsets[rank + 1] - offsets[rank];
      first_row_.push_back(first_row_.back() + (received <= few ? static_cast<std::size_t>(received) : 0));
    }
    bytes_.resize(first_row_.back() * row_);
    Array<std::byte> packed;
    ExchangePlan::Rounds rounds;
    rounds.source = [&](std::size_t begin, std::size_t count) {
      packed.resize(count * row_);
      pack(particles, departing.subspan(begin, count), packed.data());
      return packed.data();
    };
    rounds.target = [&](std::size_t begin, std::size_t) { return bytes_.data() + row_of(begin) * row_; };
    rounds.arrived = [](std::size_t, std::size_t) {};
    plan.apply(rounds, row_, [](Count count) { return count <= few; });
  }

  /// Puts a field of theirs where it belongs among all arrivals. offset: of the field in a row.
  template <Wire T>
  void unpack(std::size_t offset, std::span<T> arrived) const {
    const auto offsets = plan_.receive_offsets();
    for (std::size_t rank = 0; rank + 1 < first_row_.size(); ++rank)
      for (std::size_t i = first_row_[rank]; i < first_row_[rank + 1]; ++i)
        std::memcpy(&arrived[static_cast<std::size_t>(offsets[rank]) + i - first_row_[rank]],
                    bytes_.data() + i * row_ + offset, sizeof(T));
  }

 private:
  /// The number of the row that holds an arrival.
  std::size_t row_of(std::size_t arrival) const {
    const auto offsets = plan_.receive_offsets();
    const auto rank = static_cast<std::size_t>(
        std::upper_bound(offsets.begin(), offsets.end(), static_cast<Count>(arrival)) - offsets.begin() - 1);
    return first_row_[rank] + arrival - static_cast<std::size_t>(offsets[rank]);
  }

  void pack(const Particles& particles, std::span<const std::uint32_t> which, std::byte* rows) const {
    std::size_t offset = 0;
    for_each_field([&]<class T>(const Field<T>& field) {
      if (!field.info.migrate || !particles.holds(field.info)) return;
      for (std::size_t i = 0; i < which.size(); ++i)
        std::memcpy(rows + i * row_ + offset, &(particles.*field.array)[which[i]], sizeof(T));
      offset += sizeof(T);
    });
  }

  const ExchangePlan& plan_;
  std::size_t row_;                     ///< bytes
  std::vector<std::size_t> first_row_;  ///< by rank
  Array<std::byte> bytes_;
};

template <Wire T>
void Migration::move(Array<T>& field, const Rows& rows, std::size_t offset) const {
  Array<T> arrived(static_cast<std::size_t>(plan_.receive_total()));
  const auto pack = [&](std::size_t begin, std::span<T> piece) {
    for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = field[departing_[begin + i]];
  };
  plan_.apply(pack, std::span<T>(arrived), [](Count count) { return count > few; });
  rows.unpack(offset, std::span<T>(arrived));
  for (std::size_t i = 0; i < new_place_.size(); ++i)
    if (new_place_[i] != gone) field[new_place_[i]] = field[size_ + i];
  field.resize(size_);
  for (std::size_t j = 0; j < arrived.size(); ++j) field[places_[j]] = arrived[j];
}

void Migration::apply(Particles& particles) const {
  const Rows rows(plan_, departing_, particles);
  std::size_t offset = 0;
  for_each_field([&]<class T>(const Field<T>& field) {
    if (!particles.holds(field.info)) return;
    auto& values = particles.*field.array;
    if (field.info.migrate) {
      move(values, rows, offset);
      offset += sizeof(T);
    } else {
      values.resize(size_);
    }
  });
}

Particles gathered_by_id(const Communicator& comm, const Particles& mine) {
  Particles all;
  all.has_gas = mine.has_gas;
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
