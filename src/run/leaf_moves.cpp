#include "leaf_moves.hpp"

#include <optional>
#include <span>
#include <utility>

#include "decomposition/known_cells.hpp"
#include "decomposition/leaf_runs.hpp"
#include "decomposition/whole_cells.hpp"
#include "run/guard/guards.hpp"

namespace grove {
namespace {

/// The first whole cell of each rank, as the master has it, everywhere, in one message; or none.
std::vector<std::int32_t> of_master(const Communicator& comm, std::vector<std::int32_t> first) {
  if (!comm.is_master() || first.empty()) first.assign(static_cast<std::size_t>(comm.size()) + 1, -1);
  comm.broadcast_bytes(std::as_writable_bytes(std::span(first)));
  if (first[0] < 0) first.clear();
  return first;
}

std::vector<Count> particles_by_leaf(const Domain& domain) {
  std::vector<Count> particles;
  for (std::int32_t leaf = 0; leaf < domain.leaves(); ++leaf) particles.push_back(domain.leaf(leaf).count);
  return particles;
}

}  // namespace

void LeafMoves::walked(const ForceReport& forces, Count particles, const PhaseTimers& timers) {
  steps_ += {forces.own, particles, timers.seconds("advance") + timers.seconds("moments")};
}

void LeafMoves::decomposed(double now) {
  balance_.decomposed(now);
  is_due_ = false;
}

void LeafMoves::synchronised() {
  if (comm_.size() == 1) return;
  balance_.stepped(comm_.all_gather(std::exchange(steps_, {})));
  is_due_ = true;
}

void LeafMoves::join(JointReduction& joint, double now) {
  may_pay_ = is_due_ && comm_.is_master() && balance_.may_pay(now) ? 1 : 0;
  joint.max(may_pay_);
}

std::vector<std::uint32_t> LeafMoves::speeds() {
  if (comm_.size() == 1) return {};
  return balance_.speeds_of_shares();
}

std::uint32_t LeafMoves::particle_cost() { return comm_.size() == 1 ? 0 : balance_.particle_cost(); }

/// The first whole cell of each rank, as it is to be; empty: as it is.
std::vector<std::int32_t> LeafMoves::choose(const Backend& backend, const Domain& domain,
                                            const WholeCells& cells, double now) {
  const std::vector<Count> own = backend.leaf_work(domain),
                           all = comm_.all_gather_arrays(std::span<const Count>(own)),
                           work = domain.owners.left_to_right(all);
  std::vector<std::int32_t> first;
  if (comm_.is_master())
    if (const auto chosen =
            balance_.choose(cells.sums(work), cells.sums(particles_by_leaf(domain)), cells.first(), now))
      first = *chosen;
  return of_master(comm_, std::move(first));
}

Count LeafMoves::move(Backend& backend, Domain& domain, double now, PhaseTimers& timers) {
  if (!std::exchange(is_due_, false) || std::exchange(may_pay_, 0) == 0) return 0;
  {
    const auto timer = timers.time("wait");  // for slower ranks
    comm_.barrier();
  }
  std::optional<PhaseTimers::Scope> timer;
  timer.emplace(timers, "move");
  const Domain whole = whole_domain(comm_, domain);
  const WholeCells cells(whole);
  const std::vector<std::int32_t> first = choose(backend, whole, cells, now);
  timer.reset();
  if (first.empty()) return 0;
  const std::vector<Count> ones(static_cast<std::size_t>(whole.leaves()), 1);
  const Count leaves = amount_moved(cells.sums(ones), cells.first(), first),
              particles = most_moved(cells.sums(particles_by_leaf(whole)), cells.first(), first);
  const double before = timers.seconds("move");
  ExchangeGuard guard(comm_, backend);
  backend.move_leaves(domain, cells.owners(first), timers);
  guard.check("a move of leaves");
  balance_.moved(particles, comm_.max(timers.seconds("move") - before));
  return leaves;
}

}  // namespace grove
