#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/particles/leaf_pieces.hpp"
#include "kernels/math/leapfrog.hpp"
#include "kernels/math/potentials.hpp"
#include "kernels/math/totals.hpp"

/// The work of a step on each particle, and sums over them. All pointers are to device memory; those to rungs
/// are aligned to 4 bytes. Cost of each: one pass over the fields it names; if it is of active particles over
/// the rungs, and over other fields where one of 32 neighbours is active.
namespace grove::cuda {

/// The fields of block time steps.
struct StepFields {
  const Vec3f* acceleration;
  const std::uint8_t* type;
  std::uint8_t* rung;
  Vec3d *position, *velocity;
  float* old_acceleration;
  std::uint32_t* work;
  Vec3f* previous_acceleration;
  // These are null if there is no gas.
  double* internal_energy = nullptr;
  const double* energy_rate = nullptr;
  double *density = nullptr, *smoothing_length = nullptr;
  const float* velocity_divergence = nullptr;
  /// RungWork::not_finite of the last forces; null: these are finite. Where it counts some, particles keep
  /// their velocities and rungs, as the run ends.
  const Count* not_finite = nullptr;

  GROVE_HOST_DEVICE bool are_finite() const { return not_finite == nullptr || *not_finite == 0; }
};

/// The same as src/time/leapfrog.hpp on the host. choose_rungs() waits.
RungCounts choose_rungs(std::size_t count, const StepRule& rule, int first_active, const StepFields& fields);
void kick(std::size_t count, const Kick& kick, const StepFields& fields);
void drift(std::size_t count, const Drift& drift, const StepFields& fields);

/// Adds what external potentials do to active particles. acceleration: in/out.
void add_external(std::size_t count, int first_active, const ExternalField& field, const std::uint8_t* rung,
                  const Vec3d* position, Vec3f* acceleration);

/// For active particles old_acceleration becomes |acceleration|, work that of a longest step. Returns their
/// counts (device).
struct RungWork {
  RungCounts particles, interactions;  ///< active ones; theirs, before
  Count not_finite;                    ///< of the active ones, accelerations that are no finite numbers
};
DeviceArray<RungWork> remember(std::size_t count, int first_active, const StepFields& fields);

/// work (out): of active particles.
void set_work(const std::uint8_t* rung, std::size_t count, int first_active, std::uint32_t value,
              std::uint32_t* work);

/// Active particles have no acceleration, no potential and no work.
void set_no_forces(std::size_t count, int first_active, const std::uint8_t* rung, Vec3f* acceleration,
                   float* potential, std::uint32_t* work);

/// The largest value; 0 of none.
Arriving<double> largest_of(const double* values, std::size_t count);

/// The fields that totals are made of.
struct TotalsFields {
  const double* mass;
  const Vec3d *position, *velocity;
  const float* potential;
  const std::uint8_t* type = nullptr;
  // These are null if there is no gas.
  const double *internal_energy = nullptr, *energy_rate = nullptr;
  const Vec3f* hydro_acceleration = nullptr;
};
/// The totals of each leaf, with external potentials, in an order that depends on the number of its particles
/// alone. totals (out, device): leaves.
void sum_leaves(const TotalsFields& fields, const ExternalField& field, const LeafPieces& pieces,
                Totals* totals);

}  // namespace grove::cuda
