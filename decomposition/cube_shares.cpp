#include "decomposition/cube_shares.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "decomposition/geometric_cell.hpp"
#include "decomposition/rung_shares.hpp"
#include "decomposition/shares.hpp"

namespace grove {
namespace {

struct Bin {
  GeometricCell cell;
  PartWork work{};
  bool is_new = true;  ///< its work is not known

  Count weight() const { return work.all(); }
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
  CubeShares(const Communicator& comm, const CubeSharing& sharing) : comm_(comm), sharing_(sharing) {}

  KeyRanges run() {
    std::vector<bool> is_wanted{true};
    while (std::find(is_wanted.begin(), is_wanted.end(), true) != is_wanted.end()) {
      divide(is_wanted);
      weigh();
      is_wanted = sharing_.by_rungs ? heavy() : heavy_at_boundaries();
    }
    return sharing_.by_rungs ? ranges_by_rungs() : ranges();
  }

 private:
  Shares shares() const {
    Count all = 0;
    for (const Bin& bin : bins_) all += bin.weight();
    return {all, sharing_.speeds};
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

  /// Asks for the work in new bins; old ones that follow one another are asked for as one part, whose
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
    const std::vector<PartWork> own = sharing_.weigh(begin);
    std::vector<Count> counts;
    for (const std::size_t part : parts) {
      if (sharing_.by_rungs) {
        counts.push_back(own[part].particles);
        counts.push_back(own[part].particles * comm_.rank());
        counts.insert(counts.end(), std::begin(own[part].work), std::end(own[part].work));
      } else {
        counts.push_back(own[part].all());
      }
    }
    comm_.sum(std::span<Count>(counts));
    auto next = counts.begin();
    for (Bin& bin : bins_) {
      if (!std::exchange(bin.is_new, false)) continue;
      if (sharing_.by_rungs) {
        bin.work.particles = *next++;
        bin.work.ranks = *next++;
        for (Count& work : bin.work.work) work = *next++;
      } else {
        bin.work.work[0] = *next++;
      }
    }
    std::erase_if(bins_, [](const Bin& bin) { return bin.weight() == 0; });
  }

  std::vector<bool> heavy_at_boundaries() const {
    const Shares shares = this->shares();
    std::vector<bool> is_heavy;
    Count all = 0, before = 0;
    for (const Bin& bin : bins_) all += bin.weight();
    for (const Bin& bin : bins_) {
      is_heavy.push_back(bin.weight() > light(all, comm_.size()) &&
                         bin.cell.halvings < GeometricCell::most_halvings &&
                         shares.straddles(before, bin.weight()));
      before += bin.weight();
    }
    return is_heavy;
  }

  /// By rungs any cell may be at a boundary; one is heavy that has much of the work of a class.
  std::vector<bool> heavy() const {
    constexpr Count of_a_share = 32;
    PartWork all;
    for (const Bin& bin : bins_) all += bin.work;
    std::vector<bool> is_heavy;
    for (const Bin& bin : bins_) {
      bool has_much = false;
      for (int c = 0; c < PartWork::classes; ++c)
        has_much = has_much || bin.work.work[c] > all.work[c] / comm_.size() / of_a_share;
      is_heavy.push_back(has_much && bin.work.particles > sharing_.domain_cell &&
                         bin.cell.halvings < GeometricCell::most_halvings);
    }
    return is_heavy;
  }

  /// Bins that lie in one domain cell put together.
  std::vector<Bin> whole_bins() const {
    std::vector<Bin> whole;
    add_whole({}, bins_, whole);
    return whole;
  }
  void add_whole(const GeometricCell& cell, std::span<const Bin> bins, std::vector<Bin>& whole) const {
    if (bins.empty()) return;
    Bin sum{bins[0].cell};
    for (const Bin& bin : bins) sum.work += bin.work;
    if (bins.size() == 1 || sum.work.particles <= sharing_.domain_cell) {
      whole.push_back(sum);
      return;
    }
    const GeometricCell right = cell.half(true);
    const auto half = std::partition_point(
        bins.begin(), bins.end(), [&](const Bin& bin) { return comes_before(bin.cell.low, right.low); });
    const auto count = static_cast<std::size_t>(half - bins.begin());
    add_whole(cell.half(false), bins.first(count), whole);
    add_whole(right, bins.subspan(count), whole);
  }

  KeyRanges ranges_by_rungs() const {
    const std::vector<Bin> bins = whole_bins();
    std::vector<PartWork> work;
    for (const Bin& bin : bins) work.push_back(bin.work);
    const std::vector<int> owners = owners_by_rungs(work, sharing_.speeds);
    std::vector<KeyRanges::Part> parts;
    for (std::size_t i = 0; i < bins.size(); ++i) add(bins[i], owners[i], parts);
    return KeyRanges(std::move(parts));
  }

  KeyRanges ranges() const {
    const Shares shares = this->shares();
    std::vector<KeyRanges::Part> parts;
    Count before = 0;
    for (const Bin& bin : bins_) {
      add(bin, shares.owner(before, bin.weight()), parts);
      before += bin.weight();
    }
    return KeyRanges(std::move(parts));
  }
  static void add(const Bin& bin, int owner, std::vector<KeyRanges::Part>& parts) {
    if (parts.empty())
      parts.push_back({{0, 0, 0}, owner});
    else if (parts.back().rank != owner)
      parts.push_back({bin.cell.low, owner});
  }

  const Communicator& comm_;
  const CubeSharing& sharing_;
  std::vector<Bin> bins_{Bin{}};  ///< in Morton's order
};

}  // namespace

KeyRanges share_out_cube(const Communicator& comm, const CubeSharing& sharing) {
  return CubeShares(comm, sharing).run();
}

}  // namespace grove
