#pragma once

#include <memory>

#include "decomposition/gpu/device_exchange.hpp"
#include "structure/power_estimator.hpp"

namespace grove {

/// Power spectra by the GPU of this rank, which `users` ranks share; by the host in a build without cuFFT.
/// exchange: between the GPUs of the ranks that will measure; must outlive it.
std::unique_ptr<PowerEstimator> make_spectra(int users, const DeviceExchange& exchange);
/// The same with an exchange of its own, of these ranks. shared: ranks share GPUs (RankDevices). Collective.
std::unique_ptr<PowerEstimator> make_own_spectra(const Communicator& comm, bool shared, int users);

}  // namespace grove
