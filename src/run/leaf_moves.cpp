#include "leaf_moves.hpp"

#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "comm/at_root.hpp"
#include "decomposition/leaf_runs.hpp"
#include "decomposition/whole_cells.hpp"
#include "run/guard/guards.hpp"

namespace grove {
namespace {

/// How many own leaves go to other ranks.
Count leaving(const Domain& domain, const OwnLeaves& after) {
  Count leaves = domain.own.size();
  for (const OwnLeaves::Run& run : domain.own.runs()) leaves -= after.among(run.begin, run.end - run.begin);
  return leaves;
}

/// By own leaf.
std::vector<Count> particles_by_leaf(const Domain& domain) {
  std::vector<Count> particles;
  for (std::size_t leaf = 0; leaf + 1 < domain.leaf_begin.size(); ++leaf)
    particles.push_back(domain.leaf_begin[leaf + 1] - domain.leaf_begin[leaf]);
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

std::optional<LeafMoves::Choice> LeafMoves::choose(const Backend& backend, const Domain& domain,
                                                   const WholeCells& cells, double now) {
  constexpr Count most = std::numeric_limits<int>::max() / sizeof(Count);  // that can be gathered
  const std::vector<Count> numbers = comm_.all_gather(static_cast<Count>(cells.size()));
  if (std::accumulate(numbers.begin(), numbers.end(), Count{0}) > most) return std::nullopt;
  std::vector<std::int32_t> current{0};  // the first whole cell of each rank
  std::vector<int> bytes;
  for (const Count number : numbers) {
    current.push_back(current.back() + static_cast<std::int32_t>(number));
    bytes.push_back(static_cast<int>(number * static_cast<Count>(sizeof(Count))));
  }
  const auto gathered = [&](const std::vector<Count>& own) {
    return gather_at(comm_, 0, std::span<const Count>(own), std::span<const int>(bytes));
  };
  const std::vector<Count> work = gathered(cells.sums(backend.leaf_work(domain))),
                           particles = gathered(cells.sums(particles_by_leaf(domain)));
  std::vector<std::int32_t> first(current.size(), -1);
  Choice choice;
  if (comm_.is_master())
    if (const auto chosen = balance_.choose(work, particles, current, now)) {
      first = *chosen;
      choice.particles = most_moved(particles, current, first);
    }
  comm_.broadcast_bytes(std::as_writable_bytes(std::span(first)));
  if (first[0] < 0) return std::nullopt;
  const auto rank = static_cast<std::size_t>(comm_.rank());
  for (std::int32_t cell = current[rank]; cell < current[rank + 1]; ++cell)
    choice.to.push_back(owner_of(cell, first));
  return choice;
}

Count LeafMoves::move(Backend& backend, Domain& domain, double now, PhaseTimers& timers) {
  if (!std::exchange(is_due_, false) || std::exchange(may_pay_, 0) == 0) return 0;
  {
    const auto timer = timers.time("wait");  // for slower ranks
    comm_.barrier();
  }
  std::optional<PhaseTimers::Scope> timer;
  timer.emplace(timers, "move");
  const WholeCells cells(domain);
  const std::optional<Choice> choice = choose(backend, domain, cells, now);
  timer.reset();
  if (!choice) return 0;
  LeafOwners owners = cells.owners(comm_, choice->to);
  const Count leaves = comm_.sum(leaving(domain, owners.own(comm_.rank())));
  const double before = timers.seconds("move");
  ExchangeGuard guard(comm_, backend);
  backend.move_leaves(domain, std::move(owners), timers);
  guard.check("a move of leaves");
  const double seconds = comm_.max(timers.seconds("move") - before);
  if (comm_.is_master()) balance_.moved(choice->particles, seconds);
  return leaves;
}

}  // namespace grove
