#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "halos/catalogue_file.hpp"
#include "halos/find_halos.hpp"
#include "io/snapshot.hpp"

namespace grove {

/// A catalogue of the halos of a snapshot, as users ask for it. Lengths and densities are texts with units;
/// bare numbers are in the units of the file, with its h.
struct HaloRequest {
  std::string snapshot, output;
  std::string length{};                    ///< linking length; empty: `spacings` mean distances of particles
  std::string box{};                       ///< edge of the periodic box; 0: open; empty: as the file says
  std::string critical_density{};          ///< empty: that of the file's cosmology
  std::string length_option = "--length";  ///< names `length` in messages
  double spacings = 0.2;
  Count least = 20;                                     ///< members
  std::vector<int> types{};                             ///< that are read; empty: all
  std::function<void(const SnapshotHeader&)> before{};  ///< ReadOptions::before_particles of the snapshot
};

/// The catalogue that was written.
struct WrittenHalos {
  CatalogueHeader header;
  HaloOptions options;
  FoundHalos found;
  CatalogueOrder order;
  Count particles = 0;  ///< that were linked, over all ranks
};

/// Reads a snapshot, finds its halos and writes them. finder: see link_friends(). Collective; InputError on
/// all ranks if the snapshot cannot be used, or the linking length is not positive, or not less than half the
/// edge of a periodic box.
WrittenHalos write_halos_of(const Communicator& comm, const HaloRequest& request, const FriendFinder& finder);

}  // namespace grove
