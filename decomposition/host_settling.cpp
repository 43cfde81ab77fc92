#include "decomposition/host_settling.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "decomposition/migration.hpp"
#include "kernels/host/bisection_native.hpp"

namespace grove {
namespace {

class HostSettling {
 public:
  HostSettling(const Communicator& comm, RankParticles& own, Particles& particles, const PlaceFinder& finder,
               const Box& box, bool weighted, Count all)
      : comm_(comm),
        own_(own),
        particles_(particles),
        finder_(finder),
        box_(box),
        weighted_(weighted),
        all_(all),
        count_(finder.own_cells(), 0) {}

  std::vector<Segment> run() {
    find_places();
    migrate();
    order_records();
    return segments();
  }

 private:
  /// The own cell of each record, or where else it goes.
  void find_places() {
    place_.resize(own_.records.size());
    for (std::size_t i = 0; i < place_.size(); ++i) place_[i] = find(own_.records[i]);
  }
  std::int32_t find(const Record& r) {
    const std::int32_t place = finder_.find({r.x, r.y, r.z}, near_);
    if (place >= 0) ++count_[static_cast<std::size_t>(place)];
    return place;
  }

  void migrate() {
    std::vector<std::pair<std::int32_t, std::uint32_t>> leaving;  // their ranks and indices
    std::vector<Count> counts(static_cast<std::size_t>(comm_.size()), 0);
    for (std::size_t i = 0; i < place_.size(); ++i)
      if (const std::int32_t rank = -1 - place_[i]; rank >= 0) {
        leaving.emplace_back(rank, own_.records[i].index);
        ++counts[static_cast<std::size_t>(rank)];
      }
    std::stable_sort(leaving.begin(), leaving.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::uint32_t> departing;
    for (const auto& [rank, index] : leaving) departing.push_back(index);
    migration_.emplace(comm_, particles_.size(), std::move(departing), counts,
                       ExchangePlan::default_round_bytes, all_);
    arrived_ = static_cast<std::size_t>(migration_->plan().receive_total());
    if (arrived_ == 0 && migration_->plan().send_total() == 0) return;
    migration_->apply(particles_);
    if (weighted_) own_.weight = particles_.work.data();
    append_arrived();
  }

  void append_arrived() {
    for (std::size_t j = 0; j < arrived_; ++j) {
      const std::uint32_t index = migration_->place_of_arrival(j);
      const IntegerPosition p = box_.coordinates(own_.positions()(index));
      own_.records.push_back({p.x, p.y, p.z, index});
      place_.push_back(find(own_.records.back()));
    }
  }

  /// By own cell; in each they keep their order, which is that of earlier trees.
  void order_records() {
    begin_.resize(count_.size() + 1, 0);
    std::inclusive_scan(count_.begin(), count_.end(), begin_.begin() + 1);
    if (std::is_sorted(place_.begin(), place_.end()) && (place_.empty() || place_[0] >= 0)) return;
    Array<Record> ordered(static_cast<std::size_t>(begin_.back()));
    std::vector<Count> next = begin_;
    const std::size_t here = place_.size() - arrived_;
    for (std::size_t i = 0; i < place_.size(); ++i) {
      if (place_[i] < 0) continue;
      Record r = own_.records[i];
      if (i < here) r.index = migration_->place_of_staying(r.index);
      ordered[static_cast<std::size_t>(next[static_cast<std::size_t>(place_[i])]++)] = r;
    }
    own_.records = std::move(ordered);
  }

  std::vector<Segment> segments() const {
    std::vector<Segment> result;
    for (std::size_t c = 0; c < count_.size(); ++c)
      if (count_[c] > 0)
        result.push_back(
            segment(std::span<const Record>(own_.records)
                        .subspan(static_cast<std::size_t>(begin_[c]), static_cast<std::size_t>(count_[c]))));
    return result;
  }
  Segment segment(std::span<const Record> records) const {
    Segment segment{};
    segment.rank = comm_.rank();
    const bisection::Bounds bounds = bisection::Native::bounds(records.data(), records.size());
    segment.low = bounds.low_corner();
    segment.high = bounds.high_corner();
    for (const Record& r : records) segment.weight += own_.weight_of(r);
    segment.count = static_cast<Count>(records.size());
    std::fill(std::begin(segment.first), std::end(segment.first), ~ParticleId{0});
    for (const Record& r : records)
      for (int axis = 0; axis < 3; ++axis)
        if (r[axis] == segment.low[axis]) segment.first[axis] = std::min(segment.first[axis], own_.id_of(r));
    return segment;
  }

  const Communicator& comm_;
  RankParticles& own_;
  Particles& particles_;
  const PlaceFinder& finder_;
  const Box& box_;
  bool weighted_;
  Count all_;
  std::size_t near_ = 0;              ///< where the last place was found
  Array<std::int32_t> place_;         ///< of each record: PlaceFinder::find()
  std::vector<Count> count_, begin_;  ///< by own cell: its records
  std::optional<Migration> migration_;
  std::size_t arrived_ = 0;
};

}  // namespace

std::vector<PlaceSample> sample(const RankParticles& own, std::span<const std::uint8_t> rung,
                                const SampleRates& rates, int deepest) {
  std::vector<PlaceSample> samples;
  for (const Record& r : own.records)
    if (const int c = PartWork::class_of(rung[r.index], deepest); rates.takes(own.id_of(r), c))
      samples.push_back({r.x, r.y, r.z, c});
  return samples;
}

std::vector<PartWork> weigh_parts(const RankParticles& own, std::span<const std::uint8_t> rung,
                                  std::span<const IntegerPosition> begin, int deepest) {
  std::vector<PartWork> parts(begin.size());
  std::size_t near = 0;
  for (const Record& r : own.records) {
    const IntegerPosition place{r.x, r.y, r.z};
    const bool is_there = !comes_before(place, begin[near]) &&
                          (near + 1 == begin.size() || comes_before(place, begin[near + 1]));
    if (!is_there) near = part_of(begin.data(), begin.size(), place);
    ++parts[near].particles;
    parts[near].work[PartWork::class_of(rung[r.index], deepest)] += own.weight_of(r);
  }
  return parts;
}

std::vector<Segment> settle(const Communicator& comm, RankParticles& own, Particles& particles,
                            const PlaceFinder& finder, const Box& box, bool weighted, Count all) {
  return HostSettling(comm, own, particles, finder, box, weighted, all).run();
}

}  // namespace grove
