#include "decomposition/cube_shares.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "decomposition/geometric_cell.hpp"

namespace grove {
namespace {

struct Bin {
  GeometricCell cell;
  Count weight = 0;
  bool is_new = true;  ///< its weight is not known
};

/// Halves a cell so many times and adds the parts, in Morton's order.
void add_halves(const GeometricCell& cell, int halvings, std::vector<Bin>& bins) {
  if (halvings == 0) {
    bins.push_back({cell});
    return;
  }
  for (const bool right : {false, true}) add_halves(cell.half(right), halvings - 1, bins);
}

/// Cells of this weight are light enough to be on one side of a rank boundary as a whole.
Count light(Count all, int ranks) { return all / ranks / 64; }

class CubeShares {
 public:
  CubeShares(const Communicator& comm,
             const std::function<std::vector<Count>(std::span<const IntegerPosition>)>& weigh,
             const std::function<Shares(Count)>& shares_of)
      : comm_(comm), weigh_(weigh), shares_of_(shares_of) {}

  KeyRanges run() {
    std::vector<bool> is_wanted{true};
    while (std::find(is_wanted.begin(), is_wanted.end(), true) != is_wanted.end()) {
      divide(is_wanted);
      weigh();
      is_wanted = heavy_at_boundaries();
    }
    return ranges();
  }

 private:
  Shares shares() const {
    Count all = 0;
    for (const Bin& bin : bins_) all += bin.weight;
    return shares_of_(all);
  }

  void divide(const std::vector<bool>& is_wanted) {
    constexpr std::size_t most_new = 4096;
    const auto wanted = static_cast<std::size_t>(std::count(is_wanted.begin(), is_wanted.end(), true));
    const int halvings = std::max(static_cast<int>(std::bit_width(most_new / wanted)) - 1, 3);
    std::vector<Bin> bins;
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      if (is_wanted[i])
        add_halves(bins_[i].cell, std::min(halvings, GeometricCell::most_halvings - bins_[i].cell.halvings),
                   bins);
      else
        bins.push_back(bins_[i]);
    }
    bins_ = std::move(bins);
  }

  /// Asks for the weights of new bins; old ones that follow one another are asked for as one part, whose
  /// answer is not used. Drops those that are empty: their places go to the one before.
  void weigh() {
    std::vector<IntegerPosition> begin;
    std::vector<std::size_t> parts;  // of the new ones
    bool is_between = false;
    for (const Bin& bin : bins_) {
      if (bin.is_new) parts.push_back(begin.size());
      if (bin.is_new || !is_between) begin.push_back(bin.cell.low);
      is_between = !bin.is_new;
    }
    begin[0] = {0, 0, 0};
    const std::vector<Count> own = weigh_(begin);
    std::vector<Count> counts;
    for (const std::size_t part : parts) counts.push_back(own[part]);
    comm_.sum(std::span<Count>(counts));
    auto next = counts.begin();
    for (Bin& bin : bins_)
      if (std::exchange(bin.is_new, false)) bin.weight = *next++;
    std::erase_if(bins_, [](const Bin& bin) { return bin.weight == 0; });
  }

  std::vector<bool> heavy_at_boundaries() const {
    const Shares shares = this->shares();
    std::vector<bool> is_heavy;
    Count all = 0, before = 0;
    for (const Bin& bin : bins_) all += bin.weight;
    for (const Bin& bin : bins_) {
      is_heavy.push_back(bin.weight > light(all, comm_.size()) &&
                         bin.cell.halvings < GeometricCell::most_halvings &&
                         shares.straddles(before, bin.weight));
      before += bin.weight;
    }
    return is_heavy;
  }

  KeyRanges ranges() const {
    const Shares shares = this->shares();
    std::vector<KeyRanges::Part> parts;
    Count before = 0;
    for (const Bin& bin : bins_) {
      const int owner = shares.owner(before, bin.weight);
      before += bin.weight;
      if (parts.empty())
        parts.push_back({{0, 0, 0}, owner});
      else if (parts.back().rank != owner)
        parts.push_back({bin.cell.low, owner});
    }
    return KeyRanges(std::move(parts));
  }

  const Communicator& comm_;
  const std::function<std::vector<Count>(std::span<const IntegerPosition>)>& weigh_;
  const std::function<Shares(Count)>& shares_of_;
  std::vector<Bin> bins_{Bin{}};  ///< in Morton's order
};

}  // namespace

KeyRanges share_out_cube(
    const Communicator& comm,
    const std::function<std::vector<Count>(std::span<const IntegerPosition> begin)>& weigh,
    const std::function<Shares(Count weight)>& shares_of) {
  return CubeShares(comm, weigh, shares_of).run();
}

}  // namespace grove
