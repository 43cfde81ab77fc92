#include "time/leapfrog.hpp"

#include "kernels/kokkos/particle_loops.hpp"

namespace grove {

RungCounts choose_rungs(Particles& particles, const StepRule& rule, int first_active) {
  run(particles.size(),
      ChooseRungBody{rule, first_active, particles.acceleration.data(), particles.type.data(),
                     particles.rung.data(), particles.previous_acceleration.data()});
  RungCounts counts{};
  for (const std::uint8_t rung : particles.rung) ++counts[rung];
  return counts;
}

void kick(Particles& particles, const Kick& kick) {
  run(particles.size(),
      KickBody{kick, particles.rung.data(), particles.acceleration.data(), particles.velocity.data()});
}

void drift(Particles& particles, const Drift& drift) {
  run(particles.size(), DriftBody{drift, particles.rung.data(), particles.acceleration.data(),
                                  particles.velocity.data(), particles.position.data()});
}

void predict(Particles& particles, const Prediction& to) {
  run(particles.size(), PredictBody{to, particles.rung.data(), particles.acceleration.data(),
                                    particles.position.data(), particles.velocity.data()});
}

bool is_read_by_predict(const FieldInfo& info) {
  return info.name == fields::position.info.name || info.name == fields::velocity.info.name ||
         info.name == fields::acceleration.info.name || info.name == fields::rung.info.name;
}

}  // namespace grove
