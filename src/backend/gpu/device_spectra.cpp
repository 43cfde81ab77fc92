// For a build with cuFFT.
#include "backend/gpu/spectra.hpp"
#include "structure/gpu/device_power.hpp"

namespace grove {

std::unique_ptr<PowerEstimator> make_spectra(int users, const DeviceExchange& exchange) {
  return std::make_unique<DevicePower>(users, exchange);
}

}  // namespace grove
