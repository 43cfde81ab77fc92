#pragma once

#include <cstddef>

#include "base/box.hpp"
#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/leapfrog.hpp"
#include "kernels/math/led_positions.hpp"
#include "kernels/math/potentials.hpp"
#include "kernels/math/record.hpp"

/// Loops over particles, each with its body: a struct of plain pointers, copied by value, that works on
/// particle i wherever its pointers are valid, in host memory on the host or in device memory on a device.
namespace grove {

/// The body of make_records() (kernels/host/bisection.hpp).
struct RecordBody {
  Box box;
  std::size_t first;      ///< index of particle 0
  LedPositions position;  ///< in, units of the run
  Record* records;        ///< out

  GROVE_HOST_DEVICE void operator()(std::size_t i) const {
    const IntegerPosition c = box.coordinates(position(i));
    records[i] = {c.x, c.y, c.z, static_cast<std::uint32_t>(first + i)};
  }
};

/// Active particles choose their next step, and remember their accelerations.
struct ChooseRungBody {
  StepRule rule;
  int first_active;
  const Vec3f* acceleration;  ///< in
  const std::uint8_t* type;   ///< in
  std::uint8_t* rung;         ///< in/out, and the next
  std::uint32_t* work;
  Vec3f* previous_acceleration;

  GROVE_HOST_DEVICE void operator()(std::size_t i) const {
    const std::uint8_t before = rung[i];
    if (before < first_active) return;
    rung[i] = rule.next_rung(acceleration[i], previous_acceleration[i], type[i], before, first_active);
    work[i] = work_on_rung(work[i], before, rung[i]);
    previous_acceleration[i] = acceleration[i];
  }
};

/// Active particles feel external potentials, beside what they feel already.
struct ExternalBody {
  ExternalField field;
  int first_active;
  const std::uint8_t* rung;  ///< in, and the next
  const Vec3d* position;
  Vec3f* acceleration;  ///< in/out

  GROVE_HOST_DEVICE void operator()(std::size_t i) const {
    if (rung[i] >= first_active) acceleration[i] = field.added(acceleration[i], position[i]);
  }
};

struct KickBody {
  Kick kick;
  const std::uint8_t* rung;   ///< in
  const Vec3f* acceleration;  ///< in
  Vec3d* velocity;            ///< in/out

  GROVE_HOST_DEVICE void operator()(std::size_t i) const {
    if (rung[i] < kick.first_active) return;
    velocity[i] = kicked(velocity[i], acceleration[i], kick.factor.of[rung[i]]);
  }
};

struct DriftBody {
  Drift drift;
  const std::uint8_t* rung;  ///< in, and the next
  const Vec3f* acceleration;
  const Vec3d* velocity;
  Vec3d* position;  ///< in/out

  GROVE_HOST_DEVICE void operator()(std::size_t i) const {
    position[i] = drift.has_lag ? drifted(position[i], velocity[i], acceleration[i], drift.factor,
                                          drift.lag.of[rung[i]])
                                : drifted(position[i], velocity[i], drift.factor);
  }
};

struct PredictBody {
  Prediction to;
  const std::uint8_t* rung;  ///< in, and the next
  const Vec3f* acceleration;
  Vec3d* position;  ///< in/out
  Vec3d* velocity;  ///< in/out

  GROVE_HOST_DEVICE void operator()(std::size_t i) const {
    position[i] =
        kicked(drifted(position[i], velocity[i], to.ahead), acceleration[i], to.position.of[rung[i]]);
    velocity[i] = kicked(velocity[i], acceleration[i], to.velocity.of[rung[i]]);
  }
};

/// Runs a body for particles 0 .. count - 1 of arrays in host memory, and waits.
void run(std::size_t count, const ChooseRungBody& body);
void run(std::size_t count, const ExternalBody& body);
void run(std::size_t count, const KickBody& body);
void run(std::size_t count, const DriftBody& body);
void run(std::size_t count, const PredictBody& body);

}  // namespace grove
