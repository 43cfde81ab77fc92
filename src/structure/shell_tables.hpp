#pragma once

#include <vector>

#include "kernels/math/mass_assignment.hpp"
#include "kernels/math/mode_shells.hpp"

namespace grove {

/// The tables that a ModeShells refers to.
struct ShellTables {
  std::vector<double> window;       ///< square of the transform of the assigned cloud
  std::vector<double> images;       ///< the sum of these over all images beyond Nyquist's frequency
  std::vector<double> alternating;  ///< the same with alternating signs
  std::vector<FieldMode> turns;     ///< ModeShells::turn

  /// points: of the mesh along an edge.
  ShellTables(Assignment assignment, int points);

  /// Shells first ... last - 1 with these tables, on the host.
  ModeShells shells(int first, int last, bool interlaced) const;

 private:
  int points_;
};

}  // namespace grove
