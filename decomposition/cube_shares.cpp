#include "decomposition/cube_shares.hpp"

#include <algorithm>
#include <utility>

#include "decomposition/geometric_cell.hpp"
#include "decomposition/rung_shares.hpp"
#include "decomposition/shares.hpp"

namespace grove {
namespace {

struct Bin {
  GeometricCell cell;
  PartWork work{};
};

IntegerPosition place_of(const PlaceSample& sample) { return {sample.x, sample.y, sample.z}; }

/// The number of things in the left half of a cell, of some in Morton's order.
template <class T, class Place>
std::size_t half_of(const GeometricCell& cell, std::span<const T> things, const Place& place) {
  const IntegerPosition right = cell.half(true).low;
  const auto half = std::partition_point(things.begin(), things.end(),
                                         [&](const T& thing) { return comes_before(place(thing), right); });
  return static_cast<std::size_t>(half - things.begin());
}

class CubeShares {
 public:
  CubeShares(const Communicator& comm, const CubeSharing& sharing) : comm_(comm), sharing_(sharing) {
    for (const Count particles : sharing.particles) classes_ += particles > 0 ? 1 : 0;
  }

  KeyRanges run() {
    const std::vector<PlaceSample> all = sample();
    divide({}, all);
    if (bins_.empty()) bins_.push_back({});
    weigh();
    return ranges();
  }

 private:
  /// In a share; so few of each class may be in a bin that is not divided.
  static constexpr Count samples_of_share = 512;
  Count most_in_bin() const { return std::max<Count>(8 / std::max(classes_, 1), 2); }

  std::vector<PlaceSample> sample() const {
    constexpr std::size_t usual = 2 * samples_of_share;
    const Count wanted = samples_of_share * comm_.size() / std::max(classes_, 1);
    SampleRates rates{};
    for (std::size_t c = 0; c < sharing_.particles.size(); ++c)
      rates.below[c] = SampleRates::of(wanted, sharing_.particles[c]);
    const std::vector<PlaceSample> own = sharing_.sample(rates);
    std::vector<PlaceSample> all = comm_.all_gather_few(std::span<const PlaceSample>(own), usual);
    std::sort(all.begin(), all.end(), [](const PlaceSample& a, const PlaceSample& b) {
      return comes_before(place_of(a), place_of(b));
    });
    return all;
  }

  /// Halves without samples get no bin: their places go to the one before.
  void divide(const GeometricCell& cell, std::span<const PlaceSample> samples) {
    if (samples.empty()) return;
    std::array<Count, PartWork::classes> counts{};
    for (const PlaceSample& s : samples) ++counts[static_cast<std::size_t>(s.work_class)];
    const bool is_light = *std::max_element(counts.begin(), counts.end()) <= most_in_bin();
    if (is_light || cell.halvings == GeometricCell::most_halvings) {
      bins_.push_back({cell});
      return;
    }
    const std::size_t half = half_of(cell, samples, place_of);
    divide(cell.half(false), samples.first(half));
    divide(cell.half(true), samples.subspan(half));
  }

  void weigh() {
    std::vector<IntegerPosition> begin;
    for (const Bin& bin : bins_) begin.push_back(bin.cell.low);
    begin[0] = {0, 0, 0};
    std::vector<PartWork> own = sharing_.weigh(begin);
    for (PartWork& part : own) part.ranks = part.particles * comm_.rank();
    static_assert(sizeof(PartWork) % sizeof(Count) == 0);
    comm_.sum(std::span(reinterpret_cast<Count*>(own.data()), own.size() * sizeof(PartWork) / sizeof(Count)));
    for (std::size_t i = 0; i < bins_.size(); ++i) bins_[i].work = own[i];
  }

  /// Bins that lie in one domain cell put together, in Morton's order.
  void add_whole(const GeometricCell& cell, std::span<const Bin> bins, std::vector<Bin>& whole) const {
    if (bins.empty()) return;
    Bin sum{bins[0].cell};
    for (const Bin& bin : bins) sum.work += bin.work;
    if (bins.size() == 1 || sum.work.particles <= sharing_.domain_cell) {
      whole.push_back(sum);
      return;
    }
    const std::size_t half = half_of(cell, bins, [](const Bin& bin) { return bin.cell.low; });
    add_whole(cell.half(false), bins.first(half), whole);
    add_whole(cell.half(true), bins.subspan(half), whole);
  }

  std::vector<int> owners(std::span<const Bin> bins) const {
    std::vector<PartWork> work;
    for (const Bin& bin : bins) work.push_back(bin.work);
    if (classes_ > 1) return owners_by_rungs(work, sharing_.speeds, sharing_.particle_work);
    const auto weight = [&](const PartWork& part) {
      return part.all() + sharing_.particle_work * part.particles;
    };
    Count all = 0, before = 0;
    for (const PartWork& part : work) all += weight(part);
    const Shares shares(all, sharing_.speeds);
    std::vector<int> owners;
    for (const PartWork& part : work) {
      owners.push_back(shares.owner(before, weight(part)));
      before += weight(part);
    }
    return owners;
  }

  KeyRanges ranges() const {
    std::vector<Bin> bins;
    add_whole({}, bins_, bins);
    const std::vector<int> owners = this->owners(bins);
    std::vector<KeyRanges::Part> parts;
    for (std::size_t i = 0; i < bins.size(); ++i)
      if (parts.empty() || parts.back().rank != owners[i])
        parts.push_back({parts.empty() ? IntegerPosition{0, 0, 0} : bins[i].cell.low, owners[i]});
    return KeyRanges(std::move(parts));
  }

  const Communicator& comm_;
  const CubeSharing& sharing_;
  int classes_ = 0;        ///< that have particles
  std::vector<Bin> bins_;  ///< in Morton's order
};

}  // namespace

KeyRanges share_out_cube(const Communicator& comm, const CubeSharing& sharing) {
  return CubeShares(comm, sharing).run();
}

}  // namespace grove
