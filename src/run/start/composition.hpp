#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "io/parameters.hpp"
#include "io/snapshot.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Several sets of particles put together; each rank holds a share.
struct Composition {
  Particles particles;
  std::vector<SnapshotHeader> headers;  ///< of the components that are files, in their order
};

/// Options with which components are put together.
struct CompositionOptions {
  std::string name;               ///< of the list of components, for messages
  Units units;                    ///< of the result; files are converted to them
  Units unstated;                 ///< of files that state none
  std::uint8_t tracer = 0;        ///< bit t set: particles that get type t may have no mass
  std::optional<IdealGas> gas{};  ///< of files that have temperatures (ReadOptions)
  double share = 1;               ///< of the particles of each component, as a sample with the mass of all
  std::function<void()> pause{};  ///< called by all ranks together every second or so
};

/// Reads or makes each component, turns it about the origin, moves it, gives its particles their types and
/// moves their ids behind the greatest of the components before, or by the offset that is given. The same
/// particles on any number of ranks: what is done to one depends on it alone, and on the least and greatest
/// ids. Every rank has an equal share of each component. Collective.
///
/// InputError, which names the component: it cannot be read or made, or its ids clash with those of others.
/// Cost: those of the parts; where ids of two components may meet, one exchange of all ids.
Composition compose(const Communicator& comm, std::span<const ComponentParameters> components,
                    const CompositionOptions& options);

/// Turns and moves particles, and gives them their types.
void place(const Placement& placement, Particles& particles);

}  // namespace grove
