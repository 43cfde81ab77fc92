#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/cuda/leaf_pieces.hpp"
#include "kernels/math/totals.hpp"

/// What a step does to each particle, and sums over them. All pointers are to device memory. Cost of each:
/// one pass over the fields it names.
namespace grove::cuda {

/// velocity += factor acceleration.
void kick(std::size_t count, double factor, const Vec3f* acceleration, Vec3d* velocity);
/// position += factor velocity.
void drift(std::size_t count, double factor, const Vec3d* velocity, Vec3d* position);
/// size[i] = |acceleration[i]|.
void store_sizes(std::size_t count, const Vec3f* acceleration, float* size);

/// values[i] = value.
void set_all(std::uint32_t* values, std::size_t count, std::uint32_t value);

/// The largest value; 0 of none.
double largest_of(const double* values, std::size_t count);

/// What totals are made of.
struct TotalsFields {
  const double* mass;
  const Vec3d *position, *velocity;
  const float* potential;
};
/// Of each leaf, in an order that depends on the number of its particles alone. totals (out, device): leaves.
void sum_leaves(const TotalsFields& fields, const LeafPieces& pieces, Totals* totals);

}  // namespace grove::cuda
