#include "backend/move_leaves.hpp"

#include <utility>

#include "decomposition/hand_over.hpp"
#include "decomposition/services/rank_particles.hpp"

namespace grove {

void move_leaves(const Communicator& comm, Domain& domain, LeafOwners owners, PhaseTimers& timers,
                 const std::function<void(const LeafTransfer& particles, const LeafOwners& before)>& carry) {
  {
    const auto timer = timers.time("wait");
    comm.barrier();
  }
  const auto timer = timers.time("move");
  const LeafOwners before = domain.owners;
  const std::vector<Count> leaf_begin = domain.leaf_begin;
  hand_over(comm, domain, std::move(owners));
  const LeafTransfer of_particles(comm, before, domain.owners, leaf_begin, domain.leaf_begin);
  comm.together([&] { check_size(of_particles.size()); });
  carry(of_particles, before);
}

}  // namespace grove
