#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/types.hpp"

namespace grove {

/// Keys of `initial_conditions` that the models of a universe take. Lengths are comoving, in the units of the
/// run.
struct CosmologicalModelParameters {
  Count sites = 0;                 ///< of the lattice, along each edge
  std::string glass;               ///< file with the places of sites; empty: a lattice
  std::optional<double> box_size;  ///< edge of the periodic box
  std::optional<double> radius;    ///< of a sphere in its middle
  std::optional<double> redshift;  ///< unset: that of time.begin
  std::string displacements = "2lpt";
  std::string spectrum = "eisenstein_hu";  ///< or smooth, or the path of a table
  bool fixed = false, paired = false;

  bool has_table() const { return spectrum != "eisenstein_hu" && spectrum != "smooth"; }

  friend bool operator==(const CosmologicalModelParameters&, const CosmologicalModelParameters&) = default;
};

inline const std::string cosmological_box = "cosmological-box", cosmological_sphere = "cosmological-sphere";

inline bool is_cosmological(const std::string& model) {
  return model == cosmological_box || model == cosmological_sphere;
}

/// Its keys.
inline const std::vector<std::string> cosmological_model_keys = {
    "sites", "glass", "box_size", "radius", "redshift", "displacements", "spectrum", "fixed", "paired"};

/// Words of `displacements`.
inline const std::vector<std::string> displacement_words = {"2lpt", "zeldovich"};

}  // namespace grove
