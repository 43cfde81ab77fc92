#include "commands/decompose_gpu.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/shares.hpp"
#include "commands/decompose_host.hpp"
#include "decomposition/gpu/axis_counter.hpp"
#include "decomposition/gpu/device_check.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "decomposition/gpu/device_rank.hpp"
#include "decomposition/gpu/devices.hpp"
#include "io/words.hpp"
#include "kernels/cuda/device/rates.hpp"
#include "kernels/cuda/particles/fields.hpp"

namespace grove {
namespace {

class GpuDecomposeOnDevices : public GpuDecompose {
 public:
  GpuDecomposeOnDevices(const Communicator& comm, const DecomposeOptions& options)
      : comm_(comm), options_(options), devices_(take_devices(comm, options.share_gpu)) {
    if (!options.counts_on_gpu()) exchange_.emplace(comm, devices_.shared, options.payload);
  }

  void run(bool is_last, std::vector<DecomposeResult>& runs) override {
    if (options_.counts_on_gpu())
      decompose_on_host(
          comm_, host_particles(comm_, options_), options_.parameters,
          [this](Particles& particles, DecompositionReport& report) {
            return std::make_unique<AxisCounterRank>(particles, report, options_.schedule == GpuSchedule::b);
          },
          is_last, runs);
    else if (options_.uniform > 0)
      decompose_on_device(uniform_points(), is_last, runs);
    else
      decompose_on_device(DeviceParticles(host_particles(comm_, options_)), is_last, runs);
  }

  void calibrate(MachineRates& rates) override;

  void describe(DecomposeResult& result) const override {
    result.devices = devices_.table();
    result.device_name = devices_.of_rank[0].name;
    if (exchange_ && comm_.size() > 1) result.payload = word_of(exchange_->path());
  }

 private:
  DeviceParticles uniform_points() const {
    const Count begin = share_begin(options_.uniform, comm_.rank(), comm_.size());
    const Count end = share_begin(options_.uniform, comm_.rank() + 1, comm_.size());
    const auto count = static_cast<std::size_t>(end - begin);
    DeviceParticles particles(count, fields::position, fields::velocity, fields::mass, fields::id);
    cuda::make_uniform(stream_of(options_), static_cast<std::uint64_t>(begin), count,
                       static_cast<std::uint64_t>(options_.uniform), particles.values(fields::position),
                       particles.values(fields::velocity), particles.values(fields::mass),
                       particles.values(fields::id));
    return particles;
  }

  void decompose_on_device(DeviceParticles particles, bool is_last, std::vector<DecomposeResult>& runs) {
    DecompositionReport report;
    cuda::device_synchronise();
    cuda::reset_peak_device_memory();
    const std::uint64_t before = cuda::device_memory_use().now;
    comm_.barrier();
    const Domain domain = grove::decompose(comm_, particles, *exchange_, options_.parameters, {}, report);
    add_run(comm_, report, domain, runs);
    if (!is_last) return;
    DecomposeResult& result = runs.back();
    const auto bytes = static_cast<std::int64_t>(cuda::device_memory_use().peak - before);
    result.bytes_per_particle = static_cast<double>(comm_.sum(bytes)) / static_cast<double>(result.particles);
    const DeviceCheck check = check_on_device(comm_, particles, options_.parameters, domain);
    result.fault = check.fault;
    result.tree_hash = check.tree_hash;
  }

  const Communicator& comm_;
  const DecomposeOptions& options_;
  RankDevices devices_;
  std::optional<DeviceExchange> exchange_;  ///< if particles are on the GPUs
};

void GpuDecomposeOnDevices::calibrate(MachineRates& rates) {
  comm_.barrier();
  const cuda::DeviceRates own = cuda::measure_rates();
  rates.device_bytes = own.copy_bytes;
  rates.to_device = own.to_device;
  rates.to_host = own.to_host;
  rates.launch_seconds = own.launch_seconds;
  rates.transfer_seconds = own.transfer_seconds;
  if (comm_.size() == 1 || !exchange_) return;
  constexpr Count bytes = Count{256} << 20;
  const cuda::DeviceArray<std::byte> send(bytes), receive(bytes);
  rates.sent = ring_rate(comm_, bytes, [&](const ExchangePlan& plan) {
    exchange_->apply(plan, send.data(), receive.data(), 1);
  });
}

}  // namespace

std::unique_ptr<GpuDecompose> make_gpu_decompose(const Communicator& comm, const DecomposeOptions& options) {
  return std::make_unique<GpuDecomposeOnDevices>(comm, options);
}

}  // namespace grove
