#include "kernels/host/weighted_prefix.hpp"

#include <algorithm>

#include "base/array.hpp"

namespace grove {
namespace {

struct Item {
  ParticleId id;
  Coordinate key;
  std::uint32_t weight;
  friend bool operator<(const Item& a, const Item& b) { return a.key != b.key ? a.key < b.key : a.id < b.id; }
};

Item median(const Item& a, const Item& b, const Item& c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

}  // namespace

Count weighted_prefix(const CutTarget& target, std::span<const Record> records, int axis,
                      const ParticleId* id, const std::uint32_t* weight) {
  Array<Item> items(records.size());
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i] = {id[records[i].index], records[i][axis], weight[records[i].index]};

  Count count = 0, sum = 0;     // of the prefix known to be accepted
  std::span<Item> rest(items);  // whose members may belong to it or not
  while (!rest.empty()) {
    const Item pivot = median(rest.front(), rest[rest.size() / 2], rest.back());
    const auto middle =
        std::partition(rest.begin(), rest.end(), [&](const Item& i) { return i < pivot; }) - rest.begin();
    const auto lower = rest.first(static_cast<std::size_t>(middle));
    Count lower_sum = 0;
    for (const Item& i : lower) lower_sum += i.weight;
    if (!target.accepts(count + middle, sum + lower_sum)) {
      rest = lower;
    } else if (!target.accepts(count + middle + 1, sum + lower_sum + pivot.weight)) {
      return count + middle;
    } else {
      count += middle + 1;
      sum += lower_sum + pivot.weight;
      rest = rest.subspan(lower.size());
      std::iter_swap(std::find_if(rest.begin(), rest.end(), [&](const Item& i) { return i.id == pivot.id; }),
                     rest.begin());
      rest = rest.subspan(1);
    }
  }
  return count;
}

}  // namespace grove
