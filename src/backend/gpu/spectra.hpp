#pragma once

#include <memory>

#include "structure/power_estimator.hpp"

namespace grove {

/// Power spectra by the GPU of this rank, which `users` ranks share; by the host in a build without cuFFT.
std::unique_ptr<PowerEstimator> make_spectra(int users);

}  // namespace grove
