#include "decomposition/host_rank.hpp"

#include <algorithm>

#include "base/activity.hpp"
#include "decomposition/host_delegation.hpp"
#include "decomposition/host_settling.hpp"
#include "decomposition/migration.hpp"
#include "decomposition/root_cell.hpp"
#include "decomposition/services/all.hpp"

namespace grove {

bool HostRank::has_work() {
  work_ = idle_ = 0;
  for (const std::uint32_t w : particles_.work) work_ += w, idle_ += w == 0;
  return work_ > 0;
}

Count HostRank::weigh(bool weighted) {
  weighted_ = weighted;
  Count weight = static_cast<Count>(particles_.size());
  if (weighted_) {
    if (idle_ > 0) std::replace(particles_.work.begin(), particles_.work.end(), 0u, 1u);
    own_.weight = particles_.work.data();
    weight = work_ + idle_;
  }
  own_.make_root(weight);
  return weight;
}

bool HostRank::take_inside(const Box& box) {
  activity().host_bytes += (sizeof(Vec3d) + sizeof(Record)) * particles_.size();
  return make_records_inside(own_, box);
}

std::vector<PlaceSample> HostRank::sample(const SampleRates& rates, int deepest) {
  return grove::sample(own_, particles_.rung, rates, deepest);
}
std::vector<PartWork> HostRank::weigh_parts(std::span<const IntegerPosition> begin, int deepest) {
  return grove::weigh_parts(own_, particles_.rung, begin, deepest);
}

std::vector<Segment> HostRank::settle(const Communicator& comm, const PlaceFinder& finder, const Box& box,
                                      Count all) {
  return grove::settle(comm, own_, particles_, finder, box, weighted_, all);
}

void HostRank::take_portions(const Frontier& frontier, std::span<const Count> portions) {
  Count begin = 0;
  for (std::size_t i = 0; i < frontier.size(); ++i) {
    const auto cell = static_cast<std::size_t>(frontier.cell(i));
    own_.begin.resize(std::max(own_.begin.size(), cell + 1), 0);
    own_.end.resize(own_.begin.size(), 0);
    own_.begin[cell] = begin;
    own_.end[cell] = begin += portions[i];
  }
}

Box HostRank::take_all(const Communicator& comm, const CellAxes& axes, const std::optional<Box>& previous,
                       Cell& root) {
  activity().host_bytes += (sizeof(Vec3d) + sizeof(Record)) * particles_.size();
  return grove::take_all(comm, own_, axes, previous, root);
}

std::vector<ServiceEntry> HostRank::services() { return services::all(own_); }

/// A rank may get so much more to cut than other ranks.
Count HostRank::most_delegated(const CutScheme&, Count mean) const {
  constexpr Count part_of_mean = 16;
  return mean / part_of_mean;
}

std::vector<Cell> HostRank::cut_delegated(const Communicator& comm, const CutScheme& scheme,
                                          std::span<const Cell> top, const DelegatedCells& delegated) {
  std::vector<Count> counts(static_cast<std::size_t>(comm.size()), 0);
  Array<DelegatedRecord> leaving;
  for (std::size_t i = 0; i < delegated.size(); ++i) {
    if (delegated.rank(i) == comm.rank()) continue;
    append_delegated(own_, delegated.cell(i), leaving);
    counts[static_cast<std::size_t>(delegated.rank(i))] =
        static_cast<Count>(own_.records_of(delegated.cell(i)).size());
  }
  const ExchangePlan plan(comm, counts);
  Array<DelegatedRecord> received(static_cast<std::size_t>(plan.receive_total()));
  plan.apply(std::span<const DelegatedRecord>(leaving), std::span<DelegatedRecord>(received));
  std::vector<Cell> subtree;
  comm.together([&] {
    const auto cell = delegated.cell_of(comm.rank());
    if (!cell) return;
    append_delegated(own_, *cell, received);
    subtree = cut_delegated_cell(scheme, top[static_cast<std::size_t>(*cell)], received, weighted_);
  });
  return subtree;
}

void HostRank::divide_delegated(std::span<const Cell> top, const DelegatedCells& delegated) {
  for (std::size_t i = 0; i < delegated.size(); ++i) divide_into_leaves(own_, top, delegated.cell(i));
}

void HostRank::end_services() {
  own_.scratch = Array<std::uint32_t>();
  own_.axis = Array<Coordinate>();
}

std::vector<Count> HostRank::portions(const Frontier& frontier) {
  std::vector<Count> portions;
  for (std::size_t i = 0; i < frontier.size(); ++i)
    portions.push_back(static_cast<Count>(own_.records_of(frontier.cell(i)).size()));
  return portions;
}

void HostRank::migrate(const Communicator& comm, const Frontier& frontier, const FrontierMoves& moves,
                       const Box& box) {
  if (moves.most == 0) return;
  const ExchangePlan plan = moves.plan(comm);
  std::vector<std::uint32_t> departing(static_cast<std::size_t>(plan.send_total()));
  std::vector<Count> next(plan.send_offsets().begin(), plan.send_offsets().end() - 1);  // by rank
  for (std::size_t i = 0; i < frontier.size(); ++i) {
    if (frontier.owner(i) == comm.rank()) continue;
    Count& to = next[static_cast<std::size_t>(frontier.owner(i))];
    for (const Record& r : own_.records_of(frontier.cell(i)))
      departing[static_cast<std::size_t>(to++)] = r.index;
  }
  const Migration migration(comm, particles_.size(), std::move(departing), plan, moves.all);
  migration.apply(particles_);
  if (weighted_) own_.weight = particles_.work.data();  // a rank that had no particles had no weights either
  frontier.merge_arrivals(own_, migration, moves.arriving, comm.rank(), box);
}

void HostRank::cut_alone(const CutScheme& scheme, std::span<const Cell> top, const Frontier& frontier,
                         int rank) {
  Count begin = 0;
  for (std::size_t i = 0; i < frontier.size(); ++i) {
    if (frontier.owner(i) != rank) continue;
    const Cell& cell = top[static_cast<std::size_t>(frontier.cell(i))];
    const auto records = std::span<Record>(own_.records)
                             .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(cell.count));
    begin += cell.count;
    if (!frontier.is_uncut(i)) continue;
    const std::vector<Cell> cells = cut_to_leaves(scheme, cell, records, particles_.id.data(), own_.weight);
    own_.own_cells.insert(own_.own_cells.end(), cells.begin(), cells.end());
  }
}

void HostRank::arrange() {
  if (records_) {
    *records_ = std::move(own_.records);
    return;
  }
  const auto time = report_.timers.time("order");
  Array<std::uint32_t> order(own_.records.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = own_.records[i].index;
  own_.records = Array<Record>();
  particles_.reorder(order);
  for_each_field([&]<class T>(const Field<T>& field) {
    if (!particles_.holds(field.info)) return;
    activity().host_bytes += (2 * sizeof(T) + sizeof(order[0])) * order.size();
  });
}

}  // namespace grove
