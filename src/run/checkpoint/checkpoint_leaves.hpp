#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "io/checkpoint_manifest.hpp"

namespace grove {

/// The leaves of a checkpoint, shared out among the ranks that go on from it: equal work for all; where none
/// was counted yet, equal numbers of particles. Collective. domain (in): the cells above all pieces, as
/// state.hdf5 has them; (out): what this rank needs to know, with owners. InputError on all ranks together.
/// Each piece is read by one rank, which tells the others what they need (hand_over()). Memory: the cells of
/// the leaves that a rank reads, or is to own.
void read_leaves(const Communicator& comm, const std::string& path, const CheckpointManifest& manifest,
                 Domain& domain);

}  // namespace grove
