#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "comm/exchange_plan.hpp"
#include "commands/decompose_result.hpp"
#include "decomposition/rank_storage.hpp"
#include "particles/particles.hpp"

/// The work of `grove decompose` with particles in the memory of the host.
namespace grove {

/// Random stream of the points of --uniform.
std::uint64_t stream_of(const DecomposeOptions& options);

/// This rank's share of the snapshot or of the points of --uniform. Collective. InputError if they are not
/// sound, or too many for the memory.
Particles host_particles(const Communicator& comm, const DecomposeOptions& options);

/// How a rank works on its particles.
using HostStorage =
    std::function<std::unique_ptr<RankStorage>(Particles& particles, DecompositionReport& report)>;

/// Decomposes once and adds the run; hash, fault and memory are filled in if is_last. Collective.
void decompose_on_host(const Communicator& comm, Particles particles,
                       const DecompositionParameters& parameters, const HostStorage& storage, bool is_last,
                       std::vector<DecomposeResult>& runs);

/// Reading speed of the host's memory, bytes per second and rank while all ranks read. Collective.
double host_rate(const Communicator& comm);

/// Speed of sending to the next rank while all do, bytes per second and rank. exchange: sends so many bytes,
/// as planned. Collective, of more ranks than one.
double ring_rate(const Communicator& comm, Count bytes,
                 const std::function<void(const ExchangePlan& plan)>& exchange);

}  // namespace grove
