#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/vec3.hpp"
#include "kernels/math/potentials.hpp"

namespace grove {

/// One external potential as a parameter file gives it, in the units of the run.
struct PotentialParameters {
  PotentialKind kind = PotentialKind::point_mass;
  Vec3d position{};  ///< of its centre
  std::optional<double> mass, scale, height, softening, concentration, cutoff, velocity, flattening;
  std::optional<Vec3d> acceleration;
};

/// A key of a potential in the parameter file.
struct PotentialKey {
  std::string name;
  bool required;
};

/// The keys that a kind of potential has beside type and position.
const std::vector<PotentialKey>& keys_of(PotentialKind kind);

/// The potentials, all that they require being given. gravitational_constant: in the same units.
std::vector<ExternalPotential> external_potentials(const std::vector<PotentialParameters>& given,
                                                   double gravitational_constant);

/// True if all are 0 at infinity; else where their energy is 0 is arbitrary.
bool vanishes_far_away(const std::vector<PotentialParameters>& given);

}  // namespace grove
