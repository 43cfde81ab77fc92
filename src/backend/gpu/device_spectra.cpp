// For a build with cuFFT.
#include <optional>

#include "backend/gpu/spectra.hpp"
#include "structure/gpu/device_power.hpp"

namespace grove {
namespace {

class OwnSpectra : public PowerEstimator {
 public:
  OwnSpectra(const Communicator& comm, bool shared, int users)
      : exchange_(comm, shared, std::nullopt), power_(users, exchange_) {}

  std::vector<ShellTotals> totals(const Communicator& comm, std::span<const Vec3d> position,
                                  std::span<const double> mass, const PowerMesh& mesh) const override {
    return power_.totals(comm, position, mass, mesh);
  }

 private:
  DeviceExchange exchange_;
  DevicePower power_;
};

}  // namespace

std::unique_ptr<PowerEstimator> make_spectra(int users, const DeviceExchange& exchange) {
  return std::make_unique<DevicePower>(users, exchange);
}

std::unique_ptr<PowerEstimator> make_own_spectra(const Communicator& comm, bool shared, int users) {
  return std::make_unique<OwnSpectra>(comm, shared, users);
}

}  // namespace grove
