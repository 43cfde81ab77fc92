#include "time/leapfrog.hpp"

#include "kernels/math/leapfrog.hpp"

namespace grove {

void kick(Particles& particles, double factor) {
  for (std::size_t i = 0; i < particles.size(); ++i)
    particles.velocity[i] = kicked(particles.velocity[i], particles.acceleration[i], factor);
}

void drift(Particles& particles, double factor) {
  for (std::size_t i = 0; i < particles.size(); ++i)
    particles.position[i] = drifted(particles.position[i], particles.velocity[i], factor);
}

void predict(Particles& particles, double dt) {
  for (std::size_t i = 0; i < particles.size(); ++i) {
    particles.position[i] =
        predicted(particles.position[i], particles.velocity[i], particles.acceleration[i], dt);
    particles.velocity[i] = kicked(particles.velocity[i], particles.acceleration[i], dt);
  }
}

}  // namespace grove
