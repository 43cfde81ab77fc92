#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/display_units.hpp"
#include "comm/communicator.hpp"
#include "particles/models/model.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Toomre's Q = sigma_R kappa / (3.36 G Sigma) of a disk, as it is made.
struct DiskStability {
  double least, at_radius;  ///< within five scale lengths
  double at_two_scales;
  double scale;  ///< length
};

/// A component as it was made. In the units of the model.
struct PartSummary {
  std::string name;
  int type = 0;
  Count count = 0;
  double mass = 0;
  double half_mass_radius = 0;  ///< of its particles, about its origin; 0: it has no middle
  std::optional<DiskStability> disk;
  /// Radius and circular speed: around a disk in its plane, of all that the disk was made for; of a model of
  /// one sphere, about its centre. Empty: there is none.
  std::vector<std::pair<double, double>> circular_speed;
};

/// A model as it was made, for people to compare with what they wanted.
struct ModelSummary {
  std::vector<PartSummary> parts;
  std::optional<double> virial_ratio{};  ///< 2 T / |W|; none: the model does not stand by itself

  /// Some lines, in these units.
  std::string text(const DisplayUnits& shown) const;
};

/// particles: this rank's share of the model's, as make_initial_conditions() gives them. fills_box: the model
/// is one of a periodic box (ModelInfo). Collective; the same on all ranks and for any number of them. Cost:
/// a selection of a radius for each component, and forces on some 30,000 particles of each.
ModelSummary model_summary(const Communicator& comm, const Model& model, const Particles& particles,
                           double gravitational_constant, bool fills_box = false);

}  // namespace grove
