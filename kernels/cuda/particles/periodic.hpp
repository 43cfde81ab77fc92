#pragma once

#include <cstddef>
#include <cstdint>

#include "base/box.hpp"
#include "kernels/cuda/particles/leaf_pieces.hpp"
#include "kernels/math/far_images.hpp"

/// Particles in periodic boxes; arrays in device memory, units of the run.
namespace grove::cuda {

/// Brings positions into a periodic box.
void wrap_positions(const Box& box, std::size_t count, Vec3d* position);

/// The moments of all particles: pieces of leaves are summed, and their sums as whole numbers. Order
/// far_moments: multipoles of l > 1 in single precision, which err by some 10^-7 of the box's mass, and
/// forces of nearly even matter, where they cancel to 0.03 G M / L^2, by some 10^-5 of themselves; mass and
/// first and second moments, with which a homogeneous cube is compared, in double. audit_far_moments: all in
/// double. Waits. Cost: some 1000 operations a particle.
template <int order>
WholeMoments<order> sum_box_moments(const FarUnits& units, const Vec3d* position, const double* mass,
                                    const LeafPieces& pieces, double per_mass);

/// Adds what far images do to the particles on these rungs: host twin in src/gravity/far_images.cpp.
void add_far_images(const FarUnits& units, const FarField<far_order>& field, std::size_t count,
                    const std::uint8_t* rung, int first_active, const Vec3d* position, Vec3f* acceleration,
                    float* potential);

}  // namespace grove::cuda
