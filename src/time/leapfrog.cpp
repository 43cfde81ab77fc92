#include "time/leapfrog.hpp"

#include "kernels/kokkos/loops/particle_loops.hpp"

namespace grove {

void kick(Particles& particles, double factor) {
  run(particles.size(), KickBody{factor, particles.acceleration.data(), particles.velocity.data()});
}

void drift(Particles& particles, double factor) {
  run(particles.size(), DriftBody{factor, particles.velocity.data(), particles.position.data()});
}

void predict(Particles& particles, double dt) {
  run(particles.size(),
      PredictBody{dt, particles.acceleration.data(), particles.position.data(), particles.velocity.data()});
}

}  // namespace grove
