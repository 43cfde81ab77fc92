#pragma once

#include <memory>

#include "decomposition/gpu/device_exchange.hpp"
#include "structure/power_estimator.hpp"

namespace grove {

/// Power spectra by the GPU of this rank, which `users` ranks share; by the host in a build without cuFFT.
/// exchange: must outlive it.
std::unique_ptr<PowerEstimator> make_spectra(int users, const DeviceExchange& exchange);

}  // namespace grove
