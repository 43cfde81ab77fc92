#pragma once

#include <functional>
#include <span>

#include "base/vec3.hpp"
#include "fourier/mesh_transform.hpp"
#include "kernels/math/mass_assignment.hpp"

namespace grove {

/// Takes particles to the ranks that have points of a mesh which they give mass, or of one that begins up to
/// half a spacing further, and calls use(particles) with some of them at a time. part: this rank's. position:
/// anywhere; what is outside of the box counts as its image inside. Collective, use() must not be. Cost: 32
/// bytes a particle and receiver, a million from a rank at once.
void bring_to_planes(const Communicator& comm, const MeshPart& part, std::span<const Vec3d> position,
                     std::span<const double> mass, const MassMesh& mesh,
                     const std::function<void(std::span<const MassPoint>)>& use);

/// The factor from the integers that spread_mass() adds up to densities over the mean.
double density_factor(const MassMesh& mesh, int points);

/// The density over its mean at this rank's points of a mesh that begins `offset` spacings from the box's
/// corner, 0 to 1/2. Masses are added as integers, so that it has the same bits on any number of ranks,
/// whichever of them has a particle. Collective. Cost: bring_to_planes(); 16 bytes a point.
Array<double> density_mesh(const MeshTransform& transform, std::span<const Vec3d> position,
                           std::span<const double> mass, const MassMesh& mesh, double offset);

}  // namespace grove
