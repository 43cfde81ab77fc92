// For a build without cuFFT.
#include "backend/gpu/spectra.hpp"

namespace grove {

std::unique_ptr<PowerEstimator> make_spectra(int, const DeviceExchange&) {
  return std::make_unique<HostPower>();
}

std::unique_ptr<PowerEstimator> make_own_spectra(const Communicator&, bool, int) {
  return std::make_unique<HostPower>();
}

}  // namespace grove
