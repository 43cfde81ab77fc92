#include "leaf_moves.hpp"

#include <span>
#include <utility>

#include "decomposition/known_cells.hpp"
#include "decomposition/leaf_runs.hpp"
#include "decomposition/whole_cells.hpp"
#include "run/guard/guards.hpp"

namespace grove {
namespace {

/// The master's runs of leaves, everywhere, in one message. runs: of all ranks, or none.
std::vector<std::int32_t> of_master(const Communicator& comm, std::vector<std::int32_t> runs) {
  if (!comm.is_master() || runs.empty()) runs.assign(static_cast<std::size_t>(comm.size()) + 1, -1);
  comm.broadcast_bytes(std::as_writable_bytes(std::span(runs)));
  if (runs[0] < 0) runs.clear();
  return runs;
}

std::vector<Count> particles_by_leaf(const Domain& domain) {
  std::vector<Count> particles;
  for (std::int32_t leaf = 0; leaf < domain.leaves(); ++leaf) particles.push_back(domain.leaf(leaf).count);
  return particles;
}

}  // namespace

void LeafMoves::decomposed(double now) {
  balance_.decomposed(now);
  is_due_ = false;
}

void LeafMoves::synchronised() {
  if (comm_.size() == 1) return;
  balance_.stepped(comm_.all_gather(std::exchange(walked_, {})));
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

/// The runs to be had; empty: those that there are.
std::vector<std::int32_t> LeafMoves::choose(const Backend& backend, const Domain& domain, double now) {
  const std::vector<Count> own = backend.leaf_work(domain),
                           work = comm_.all_gather_arrays(std::span<const Count>(own));
  std::vector<std::int32_t> runs;
  if (comm_.is_master()) {
    const WholeCells whole(domain);
    if (const auto chosen = balance_.choose(whole.sums(work), whole.sums(particles_by_leaf(domain)),
                                            whole.of_leaves(domain.first_leaf), now))
      runs = whole.to_leaves(*chosen);
  }
  return of_master(comm_, std::move(runs));
}

Count LeafMoves::move(Backend& backend, Domain& domain, double now, PhaseTimers& timers) {
  if (!std::exchange(is_due_, false) || std::exchange(may_pay_, 0) == 0) return 0;
  {
    const auto timer = timers.time("wait");  // for slower ranks
    comm_.barrier();
  }
  std::vector<std::int32_t> runs;
  Domain whole;
  {
    const auto timer = timers.time("move");
    whole = whole_domain(comm_, domain);
    runs = choose(backend, whole, now);
  }
  if (runs.empty()) return 0;
  const Count leaves = leaves_moved(whole.first_leaf, runs),
              particles = most_moved(particles_by_leaf(whole), whole.first_leaf, runs);
  const double before = timers.seconds("move");
  ExchangeGuard guard(comm_, backend);
  backend.move_leaves(domain, std::move(runs), timers);
  guard.check("a move of leaves");
  balance_.moved(particles, comm_.max(timers.seconds("move") - before));
  return leaves;
}

}  // namespace grove
