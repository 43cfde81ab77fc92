#include "backend/move_leaves.hpp"

#include <utility>

#include "decomposition/known_cells.hpp"
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
  Domain whole = whole_domain(comm, domain);
  whole.give_out(std::move(owners), comm);
  domain = domain.is_whole ? std::move(whole) : known_part(std::move(whole), comm.rank());
  const LeafTransfer of_particles(comm, before, domain.owners, leaf_begin, domain.leaf_begin);
  comm.together([&] { check_size(of_particles.size()); });
  carry(of_particles, before);
}

}  // namespace grove
