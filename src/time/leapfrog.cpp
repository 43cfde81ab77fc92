#include "time/leapfrog.hpp"

#include "kernels/kokkos/particle_loops.hpp"

namespace grove {

LevelCounts choose_levels(Particles& particles, const StepRule& rule, int first_active) {
  run(particles.size(),
      ChooseLevelBody{rule, first_active, particles.acceleration.data(), particles.type.data(),
                      particles.level.data(), particles.previous_acceleration.data()});
  LevelCounts counts{};
  for (const std::uint8_t level : particles.level) ++counts[level];
  return counts;
}

void kick(Particles& particles, const Kick& kick) {
  run(particles.size(),
      KickBody{kick, particles.level.data(), particles.acceleration.data(), particles.velocity.data()});
}

void drift(Particles& particles, const Drift& drift) {
  run(particles.size(), DriftBody{drift, particles.level.data(), particles.acceleration.data(),
                                  particles.velocity.data(), particles.position.data()});
}

void predict(Particles& particles, const Prediction& to) {
  run(particles.size(), PredictBody{to, particles.level.data(), particles.acceleration.data(),
                                    particles.position.data(), particles.velocity.data()});
}

}  // namespace grove
