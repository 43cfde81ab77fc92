#include "time/leapfrog.hpp"

#include "kernels/kokkos/particle_loops.hpp"
#include "kernels/math/gas.hpp"

namespace grove {

namespace {

/// Energies at another time; longer: time by rung, of rungs of at least first_active.
void heat(Particles& particles, int first_active, const RungTable& longer) {
  if (!particles.has_gas) return;
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (particles.rung[i] >= first_active)
      particles.internal_energy[i] =
          heated(particles.internal_energy[i], particles.energy_rate[i], longer.of[particles.rung[i]]);
}

void stretch_all(Particles& particles, double time) {
  for (std::size_t i = 0; i < particles.density.size(); ++i)
    stretch(particles.density[i], particles.smoothing_length[i], particles.velocity_divergence[i], time);
}

}  // namespace

RungCounts choose_rungs(Particles& particles, const StepRule& rule, int first_active) {
  run(particles.size(),
      ChooseRungBody{rule, first_active, particles.acceleration.data(), particles.type.data(),
                     particles.rung.data(), particles.work.data(), particles.previous_acceleration.data()});
  RungCounts counts{};
  for (const std::uint8_t rung : particles.rung) ++counts[rung];
  return counts;
}

void kick(Particles& particles, const Kick& kick) {
  run(particles.size(),
      KickBody{kick, particles.rung.data(), particles.acceleration.data(), particles.velocity.data()});
  heat(particles, kick.first_active, kick.factor);
}

void drift(Particles& particles, const Drift& drift) {
  run(particles.size(), DriftBody{drift, particles.rung.data(), particles.acceleration.data(),
                                  particles.velocity.data(), particles.position.data()});
  stretch_all(particles, drift.factor);
}

void predict(Particles& particles, const Prediction& to) {
  run(particles.size(), PredictBody{to, particles.rung.data(), particles.acceleration.data(),
                                    particles.position.data(), particles.velocity.data()});
  heat(particles, 0, to.velocity);
}

bool is_read_by_predict(const FieldInfo& info) {
  return info.name == fields::position.info.name || info.name == fields::velocity.info.name ||
         info.name == fields::acceleration.info.name || info.name == fields::rung.info.name ||
         info.name == fields::internal_energy.info.name || info.name == fields::energy_rate.info.name;
}

}  // namespace grove
