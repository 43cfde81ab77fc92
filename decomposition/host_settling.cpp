#include "decomposition/host_settling.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "decomposition/migration.hpp"
#include "kernels/host/bisection_native.hpp"
#include "kernels/math/cell_questions.hpp"

namespace grove {
namespace {

/// Records of one place, one behind the other.
struct PlaceRun {
  std::int32_t place;  ///< as PlaceFinder::find() says
  std::size_t begin, end;
};

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
        segments_(finder.own_cells(), nothing()) {}

  std::vector<Segment> run() {
    find_places(0);
    migrate();
    order_records();
    std::erase_if(segments_, [](const Segment& s) { return s.count == 0; });
    return std::move(segments_);
  }

 private:
  Segment nothing() const {
    constexpr ParticleId none = ~ParticleId{0};
    const CellBounds bounds = CellBounds::of_nothing();
    return {bounds.low, bounds.high, 0, 0, {none, none, none}, comm_.rank()};
  }

  /// Adds the records from `first` on to runs and segments. Most blocks lie in one cell, as bounds tell.
  void find_places(std::size_t first) {
    constexpr std::size_t block = 256;  // stays in cache while it is read again
    for (std::size_t begin = first, end; begin < own_.records.size(); begin = end) {
      end = std::min(begin + block, own_.records.size());
      const CellBounds bounds = bounds_of(begin, end);
      const std::int32_t place = finder_.find(bounds.low, near_);
      if (place >= 0 && finder_.find(bounds.high, near_) == place)
        add({place, begin, end}, bounds);
      else
        find_each(begin, end);
    }
  }
  void find_each(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin, next; i < end; i = next) {
      const std::int32_t place = place_of(i);
      for (next = i + 1; next < end && place_of(next) == place;) ++next;
      add({place, i, next}, bounds_of(i, next));
    }
  }
  std::int32_t place_of(std::size_t i) {
    const Record& r = own_.records[i];
    return finder_.find({r.x, r.y, r.z}, near_);
  }
  CellBounds bounds_of(std::size_t begin, std::size_t end) const {
    const bisection::Bounds bounds = bisection::Native::bounds(&own_.records[begin], end - begin);
    return {bounds.low_corner(), bounds.high_corner()};
  }

  void add(const PlaceRun& run, const CellBounds& bounds) {
    if (!runs_.empty() && runs_.back().place == run.place)
      runs_.back().end = run.end;
    else
      runs_.push_back(run);
    if (run.place < 0) return;
    Segment& segment = segments_[static_cast<std::size_t>(run.place)];
    const std::span<const Record> records = records_of(run);
    segment.count += static_cast<Count>(records.size());
    for (const Record& r : records) segment.weight += own_.weight_of(r);
    for (int axis = 0; axis < 3; ++axis) {
      segment.high[axis] = std::max(segment.high[axis], bounds.high[axis]);
      if (bounds.low[axis] > segment.low[axis]) continue;
      ParticleId& first = segment.first[axis];
      if (bounds.low[axis] < segment.low[axis]) first = ~ParticleId{0};
      segment.low[axis] = bounds.low[axis];
      for (const Record& r : records)
        if (r[axis] == segment.low[axis]) first = std::min(first, own_.id_of(r));
    }
  }
  std::span<const Record> records_of(const PlaceRun& run) const {
    return std::span<const Record>(own_.records).subspan(run.begin, run.end - run.begin);
  }

  void migrate() {
    std::vector<PlaceRun> leaving;
    std::copy_if(runs_.begin(), runs_.end(), std::back_inserter(leaving),
                 [](const PlaceRun& run) { return run.place < 0; });
    std::stable_sort(leaving.begin(), leaving.end(),
                     [](const PlaceRun& a, const PlaceRun& b) { return a.place > b.place; });  // by rank
    std::vector<Count> counts(static_cast<std::size_t>(comm_.size()), 0);
    std::vector<std::uint32_t> departing;
    for (const PlaceRun& run : leaving) {
      counts[static_cast<std::size_t>(-1 - run.place)] += static_cast<Count>(run.end - run.begin);
      for (const Record& r : records_of(run)) departing.push_back(r.index);
    }
    migration_.emplace(comm_, particles_.size(), std::move(departing), counts,
                       ExchangePlan::default_round_bytes, all_);
    const auto arrived = static_cast<std::size_t>(migration_->plan().receive_total());
    if (arrived == 0 && migration_->plan().send_total() == 0) return;
    migration_->apply(particles_);
    if (weighted_) own_.weight = particles_.work.data();
    const std::size_t here = own_.records.size();
    for (std::size_t j = 0; j < arrived; ++j) {
      const std::uint32_t index = migration_->place_of_arrival(j);
      const IntegerPosition p = box_.coordinates(own_.positions()(index));
      own_.records.push_back({p.x, p.y, p.z, index});
    }
    find_places(here);
  }

  /// By own cell; in each they keep their order, which is that of earlier trees.
  void order_records() {
    const bool are_in_order = std::is_sorted(
        runs_.begin(), runs_.end(), [](const PlaceRun& a, const PlaceRun& b) { return a.place < b.place; });
    if (are_in_order && (runs_.empty() || runs_[0].place >= 0)) return;
    std::vector<std::size_t> next(segments_.size() + 1, 0);  // by own cell: where its next record goes
    for (std::size_t c = 0; c < segments_.size(); ++c)
      next[c + 1] = next[c] + static_cast<std::size_t>(segments_[c].count);
    Array<Record> ordered(next.back());
    for (const PlaceRun& run : runs_) {
      if (run.place < 0) continue;
      std::size_t& to = next[static_cast<std::size_t>(run.place)];
      for (std::size_t i = run.begin; i < run.end; ++i) {
        Record r = own_.records[i];
        r.index = migration_->place_of_staying(r.index);  // what has arrived keeps its place
        ordered[to++] = r;
      }
    }
    own_.records = std::move(ordered);
  }

  const Communicator& comm_;
  RankParticles& own_;
  Particles& particles_;
  const PlaceFinder& finder_;
  const Box& box_;
  bool weighted_;
  Count all_;
  std::size_t near_ = 0;           ///< where the last place was found
  std::vector<PlaceRun> runs_;     ///< of all records, in their order
  std::vector<Segment> segments_;  ///< by own cell
  std::optional<Migration> migration_;
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
