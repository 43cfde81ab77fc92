#include "halos/find_halos.hpp"

#include "decomposition/decompose.hpp"
#include "forest/forest.hpp"
#include "halos/friends.hpp"
#include "halos/halo_members.hpp"
#include "halos/overdensity.hpp"
#include "neighbours/neighbours.hpp"

namespace grove {

FoundHalos find_halos(const Communicator& comm, Particles& particles, const HaloOptions& options,
                      const FriendFinder& finder) {
  if (!options.images.are_open()) {
    const Box box = Box::periodic(options.images.edge);
    for (Vec3d& place : particles.position) place = box.wrapped(place);
  }
  DecompositionReport report;
  Array<Record> records;
  const Domain domain = decompose(comm, particles, {}, {}, report, &records);
  Forest forest;
  forest.build(particles, domain.box, domain.leaf_begin, records);

  FoundHalos found;
  {
    const Array<GroupLabel> labels =
        link_friends(comm, domain, forest.shapes(), particles, options.length, options.images, finder);
    found.members = gather_members(comm, particles, labels, options.least);
  }
  const Communicator alone = comm.split(comm.rank());
  comm.together([&] {
    for (std::size_t group = 0; group < found.members.groups(); ++group)
      found.halos.push_back(measure_members(alone, found.members, group, options));
  });
  if (options.critical_density > 0) {
    Neighbours neighbours(comm, domain, forest.shapes(), options.images);
    find_r200(comm, neighbours, particles, options, found.halos);
  }
  return found;
}

}  // namespace grove
