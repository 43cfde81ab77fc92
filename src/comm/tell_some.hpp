#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"

namespace grove {

/// A value for another rank, or from one.
template <Wire T>
struct Told {
  int rank;
  T value;
};

/// The same with values as bytes. take(rank, value) is called for each that arrives, in any order.
void tell_some(const Communicator& comm, std::span<const int> ranks, const void* values, std::size_t size,
               std::span<Count> maxima, const std::function<void(int rank, const std::byte* value)>& take);

/// Each rank tells some others a value each; none knows before from whom it hears. Returns what was told to
/// this rank, in order of the ranks that did. Collective. told: at most one for each rank, none for this one.
/// maxima (in/out): as many on all ranks; each becomes the largest of all. Cost: a message for each value and
/// one barrier, or one reduction in its place, however many ranks there are. Source: Hoefler, Siebert,
/// Lumsdaine 2010, PPoPP '10, 159 (algorithm NBX).
template <Wire T>
std::vector<Told<T>> tell_some(const Communicator& comm, std::span<const Told<T>> told,
                               std::span<Count> maxima = {}) {
  std::vector<int> ranks;
  std::vector<T> values;
  for (const Told<T>& one : told) ranks.push_back(one.rank), values.push_back(one.value);
  std::vector<Told<T>> heard;
  tell_some(comm, ranks, values.data(), sizeof(T), maxima, [&](int rank, const std::byte* value) {
    std::memcpy(&heard.emplace_back(Told<T>{rank, {}}).value, value, sizeof(T));
  });
  std::sort(heard.begin(), heard.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return heard;
}

}  // namespace grove
