#include "backend/host_backend.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "backend/move_leaves.hpp"
#include "time/leapfrog.hpp"

namespace grove {
namespace {

/// Brings positions, velocities and energies back to what they were, also where an error ends what is done in
/// between.
class Present {
 public:
  explicit Present(Particles& particles)
      : particles_(particles),
        position_(particles.position),
        velocity_(particles.velocity),
        energy_(particles.internal_energy) {}
  ~Present() {
    particles_.position = std::move(position_);
    particles_.velocity = std::move(velocity_);
    particles_.internal_energy = std::move(energy_);
  }
  Present(const Present&) = delete;
  Present& operator=(const Present&) = delete;

 private:
  Particles& particles_;
  Array<Vec3d> position_, velocity_;
  Array<double> energy_;
};

/// Moves are a first guess: a message or two; particles of 106 bytes and their trees, copied a few times, and
/// those that stay are shifted along. New cuts and trees take 80 ns a particle more than a refit (sort 40,
/// build 25, moments 14), on a core that makes 1.24 interactions a nanosecond: medians by `tree_update` in
/// timing.csv of grove run jobs/examples/merger.yml -P time.end=2.56 -P audit.every=0. Renewals in every
/// second step alone cost 3 % (docs/measurements/scaling.md).
BackendTraits host_traits() { return {"kokkos", 100, {2e-4, 3e-7}, 0}; }

}  // namespace

HostBackend::HostBackend(const Communicator& comm, Particles particles, const GravityParameters& gravity,
                         const MakeTrees& make, const GasParameters& gas)
    : Backend(host_traits(), gravity_, gas_, particles.has_gas),
      comm_(comm),
      particles_(std::move(particles)),
      parameters_(gravity),
      trees_(make(parameters_, particles_, records_)),
      gravity_(comm, gravity, *trees_),
      gas_(comm, gas, gravity.images, particles_, trees_->shapes()) {}

Domain HostBackend::decompose(const DecompositionParameters& parameters, const Domain& previous,
                              DecompositionReport& report) {
  trees_->forget_trees();
  DecompositionParameters known = parameters;
  known.all_cells = false;
  return grove::decompose(comm_, particles_, known, previous, report, &records_);
}

std::vector<Count> HostBackend::leaf_work(const Domain& domain) const {
  std::vector<Count> sums;
  for (std::size_t leaf = 0; leaf + 1 < domain.leaf_begin.size(); ++leaf)
    sums.push_back(std::accumulate(particles_.work.begin() + domain.leaf_begin[leaf],
                                   particles_.work.begin() + domain.leaf_begin[leaf + 1], Count{0}));
  return sums;
}

void HostBackend::move_leaves(Domain& domain, LeafOwners owners, PhaseTimers& timers) {
  if (!records_.empty()) throw std::logic_error("leaves that have no trees yet do not move");
  grove::move_leaves(comm_, domain, std::move(owners), timers,
                     [&](const LeafTransfer& of_particles, const LeafOwners& before) {
                       of_particles.apply(particles_);
                       trees_->move_leaves(before, domain);
                     });
}

RungCounts HostBackend::choose_rungs(const StepRule& rule, int first_active) {
  if (trees_->remembered().not_finite > 0) return {};
  return grove::choose_rungs(particles_, rule, first_active);
}
void HostBackend::kick(const Kick& kick) {
  if (trees_->remembered().not_finite == 0) grove::kick(particles_, kick);
}
double HostBackend::drift(const Drift& drift, const Box* periodic) {
  grove::drift(particles_, drift);
  if (!periodic) return -1;
  double farthest = -periodic->edge;
  for (const Vec3d& p : particles_.position) farthest = std::max(farthest, periodic->outside(p));
  return farthest;
}

void HostBackend::wrap(const Box& box) {
  for (Vec3d& p : particles_.position) p = box.wrapped(p);
}

std::function<Census()> HostBackend::census() const {
  Census census;
  for (std::size_t i = 0; i < particles_.size(); ++i)
    census = census + Census::of_particle(particles_.id[i], particles_.mass[i], particles_.position[i],
                                          particles_.velocity[i]);
  return [census] { return census; };
}

Totals HostBackend::totals(const Domain& domain) const {
  return compute_totals(comm_, particles_, domain, trees_->external());
}

AuditResult HostBackend::audit(const Domain& domain, Count sample, int first_active) const {
  return grove::audit(comm_, particles_, domain, gravity_.of_forces(), sample, trees_->external(),
                      first_active);
}

void HostBackend::show(const Prediction* to, const std::function<void(const Particles&)>& use,
                       const FieldChoice&) {
  if (!to) return use(particles_);
  const Present present(particles_);
  predict(particles_, *to);
  use(particles_);
}

}  // namespace grove
