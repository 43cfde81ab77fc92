#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "backend/gpu/spectra.hpp"
#include "backend/gpu_backend.hpp"
#include "backend/memory_needs.hpp"
#include "backend/move_leaves.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "decomposition/gpu/device_rank.hpp"
#include "decomposition/gpu/device_transfer.hpp"
#include "decomposition/gpu/devices.hpp"
#include "gas/gpu/device_gas.hpp"
#include "gravity/gpu/device_audit.hpp"
#include "gravity/gpu/device_gravity.hpp"
#include "kernels/cuda/device/available_memory.hpp"
#include "kernels/cuda/particles/census.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/cuda/particles/particle_steps.hpp"
#include "kernels/cuda/particles/periodic.hpp"
#include "kernels/cuda/trees/leaf_work.hpp"
#include "neighbours/gpu/device_friends.hpp"
#include "time/leapfrog.hpp"

namespace grove {
namespace {

/// Moves are a first guess: a dozen exchanges, of 106 bytes per particle through the memory of the host. New
/// cuts and trees of the m31 of 2^23 particles take 6.4 ms on an H200, which makes 8e11 interactions a second
/// (docs/measurements/block-steps.md, "On GPUs"). Renewals in every second step gain up to 100,000 active
/// particles of that model, and lose a tenth of 400,000 (docs/measurements/scaling.md).
BackendTraits traits_of(const RankDevices& devices) {
  return {"cuda", 600, {2e-3, 2e-8}, Count{1} << 17, devices.table()};
}

/// Ranks that have the GPU of this one.
int users_of_device(const Communicator& comm, const RankDevices& devices) {
  const RankDevice& own = devices.of_rank[static_cast<std::size_t>(comm.rank())];
  return static_cast<int>(
      std::count_if(devices.of_rank.begin(), devices.of_rank.end(),
                    [&](const RankDevice& other) { return other.host == own.host && other.pci == own.pci; }));
}

/// Particles in the memory of GPUs; only scalars, cuts, cells, what leaves tell each other and snapshots
/// cross to the host.
class DeviceBackend : public Backend {
 public:
  DeviceBackend(const Communicator& comm, const BackendChoice& choice, const Particles& particles,
                const GravityParameters& gravity, const GasParameters& gas)
      : DeviceBackend(comm, take_devices(comm, choice.share_gpu), choice, particles, gravity, gas) {}

  Domain decompose(const DecompositionParameters& parameters, const Domain& previous,
                   DecompositionReport& report) override {
    phases_.enter_another();
    const cuda::MemoryPurpose purpose("the decomposition", particles_.size(), bytes_per_particle());
    trees_.forget_trees();
    DecompositionParameters known = parameters;
    known.all_cells = false;
    Domain domain = grove::decompose(comm_, particles_, exchange_, known, previous, report, &records_);
    phases_.settle(report.timers, "total");  // the end of the drift
    phases_.leave("decompose");
    expect_trees();
    return domain;
  }

  std::vector<Count> leaf_work(const Domain& domain) const override {
    std::vector<Count> sums(domain.leaf_begin.size() - 1);
    cuda::sum_leaf_work(particles_.values(fields::work), domain.leaf_begin, sums);
    return sums;
  }
  void move_leaves(Domain& domain, LeafOwners owners, PhaseTimers& timers) override {
    if (records_.size() > 0) throw std::logic_error("leaves that have no trees yet do not move");
    const auto carry = [&](const LeafTransfer& of_particles, const LeafOwners& before) {
      const cuda::MemoryPurpose purpose("leaves that move", particles_.size(), bytes_per_particle());
      transfer(comm_, exchange_, of_particles, particles_);
      trees_.move_leaves(before, domain);
      expect_trees();
      cuda::device_synchronise();
    };
    grove::move_leaves(comm_, domain, std::move(owners), timers, carry);
  }
  RungCounts choose_rungs(const StepRule& rule, int first_active) override {
    return cuda::choose_rungs(particles_.size(), rule, first_active, fields_of_steps());
  }
  void kick(const Kick& kick) override { cuda::kick(particles_.size(), kick, fields_of_steps()); }
  double drift(const Drift& drift, const Box* periodic) override {
    cuda::drift(particles_.size(), drift, step_fields(particles_));
    if (!periodic) {
      phases_.leave("advance");
      return -1;
    }
    if (particles_.size() == 0) return -periodic->edge;
    const cuda::Arriving<cuda::Extent> arriving =
        cuda::find_extent(particles_.values(fields::position), particles_.size());
    const cuda::Extent& extent = arriving.get();
    return std::max(periodic->outside(extent.low), periodic->outside(extent.high));
  }

  void wrap(const Box& box) override {
    cuda::wrap_positions(box, particles_.size(), particles_.values(fields::position));
  }

  std::function<Census()> census() const override {
    const auto census = std::make_shared<cuda::Arriving<Census>>(
        cuda::take_census(particles_.size(), particles_.values(fields::id), particles_.values(fields::mass),
                          particles_.values(fields::position), particles_.values(fields::velocity)));
    return [census] { return census->get(); };
  }
  Totals totals(const Domain& domain) const override {
    return compute_totals(comm_, particles_, domain, trees_.device_external());
  }
  AuditResult audit(const Domain& domain, Count sample, int first_active) const override {
    return grove::audit(comm_, particles_, domain, gravity_.of_forces(), sample, trees_.external(),
                        first_active);
  }

  void show(const Prediction* to, const std::function<void(const Particles&)>& use,
            const FieldChoice& fields) override {
    FieldChoice chosen = fields;
    if (to && fields)
      chosen = [&](const FieldInfo& info) { return fields(info) || is_read_by_predict(info); };
    Particles copy = particles_.download(chosen);
    if (to) predict(copy, *to);
    use(copy);
  }

  const FriendFinder& friends() const override { return friends_; }
  const PowerEstimator& spectra() const override { return *spectra_; }

 private:
  void take(Particles particles) override {
    const cuda::MemoryPurpose purpose("the fields", particles.size(), bytes_per_particle(particles.has_gas));
    particles_ = DeviceParticles(particles);
    expect_trees();
    cuda::device_synchronise();
  }

  DeviceBackend(const Communicator& comm, RankDevices devices, const BackendChoice& choice,
                const Particles& particles, const GravityParameters& gravity, const GasParameters& gas)
      : Backend(traits_of(devices), gravity_, gas_, particles.has_gas),
        comm_(comm),
        parameters_(gravity),
        exchange_(comm, devices.shared, choice.payload),
        particles_(upload(particles)),
        trees_(comm, exchange_, parameters_, particles_, records_, phases_, choice.targets_per_warp),
        gravity_(comm, gravity, trees_),
        gas_(comm, exchange_, gas, gravity.images, particles_, trees_.forest()),
        friends_(users_of_device(comm, devices)),
        spectra_(make_spectra(users_of_device(comm, devices), exchange_)) {}
  cuda::StepFields fields_of_steps() const {
    cuda::StepFields fields = step_fields(particles_);
    fields.not_finite = trees_.not_finite();
    return fields;
  }
  double bytes_per_particle() const { return bytes_per_particle(particles_.has_gas()); }
  double bytes_per_particle(bool has_gas) const {
    return device_bytes_per_particle(comm_.size(), parameters_, has_gas);
  }
  DeviceParticles upload(const Particles& particles) const {
    const cuda::MemoryPurpose purpose("the fields", particles.size(), bytes_per_particle(particles.has_gas));
    return DeviceParticles(particles);
  }

  /// From here on an error for want of memory says that it was wanted for trees, unless a narrower purpose
  /// lives.
  void expect_trees() { trees_memory_.emplace("the trees", particles_.size(), bytes_per_particle()); }

  const Communicator& comm_;
  GravityParameters parameters_;
  std::optional<cuda::MemoryPurpose> trees_memory_;
  DeviceExchange exchange_;
  DeviceParticles particles_;
  cuda::DeviceRecords records_;  ///< of the particles, from decompose() to the trees
  cuda::PhaseEnds phases_;
  DeviceGravity trees_;
  Gravity gravity_;
  DeviceGas gas_;
  DeviceFriends friends_;
  std::unique_ptr<PowerEstimator> spectra_;
};

}  // namespace

std::string fault_of_gpus(const Communicator& comm, bool may_share) {
  return fault_of_devices(comm, may_share);
}

DeviceMemory gpu_memory(const Communicator& comm, bool may_share) {
  const int users = users_of_device(comm, take_devices(comm, may_share));
  return {cuda::available_device_memory(), users};
}

std::uint64_t peak_device_memory() { return cuda::selected_device() ? cuda::device_memory_use().peak : 0; }

std::unique_ptr<Backend> make_gpu_backend(const Communicator& comm, const BackendChoice& choice,
                                          Particles particles, const GravityParameters& gravity,
                                          const GasParameters& gas) {
  return std::make_unique<DeviceBackend>(comm, choice, particles, gravity, gas);
}

std::unique_ptr<FriendFinder> make_gpu_friend_finder(const Communicator& comm, bool may_share) {
  return std::make_unique<DeviceFriends>(users_of_device(comm, take_devices(comm, may_share)));
}

std::unique_ptr<PowerEstimator> make_gpu_power_estimator(const Communicator& comm, bool may_share) {
  const RankDevices devices = take_devices(comm, may_share);
  return make_own_spectra(comm, devices.shared, users_of_device(comm, devices));
}

}  // namespace grove
