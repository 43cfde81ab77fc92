#include "structure/shell_tables.hpp"

#include <cmath>
#include <numbers>

namespace grove {

ShellTables::ShellTables(Assignment assignment, int points) : points_(points) {
  for (int m = 0; m <= points / 2; ++m) {
    const double angle = std::numbers::pi * m / points, c = std::cos(angle),
                 s2 = std::pow(std::sin(angle), 2);
    const double sinc = m == 0 ? 1 : std::sin(angle) / angle, c2 = c * c;
    window.push_back(std::pow(sinc, 2 * points_of(assignment)));
    // Sums over n of sin(x)^2p / (x + n pi)^2p and of (-1)^n times that, from derivatives of cot x and 1 /
    // sin x.
    const bool cic = assignment == Assignment::cic;
    images.push_back(cic ? 1 - 2. / 3 * s2 : 1 - s2 + 2. / 15 * s2 * s2);
    alternating.push_back(cic ? c * (5 + c2) / 6 : c * (61 + c2 * (58 + c2)) / 120);
  }
  const ModeShells range = shells(0, 0, true);
  for (int sum = range.least_sum(); sum <= range.last_sum(); ++sum) {
    const double angle = std::numbers::pi * sum / points;
    turns.push_back({0.5 * std::cos(angle), -0.5 * std::sin(angle)});
  }
}

ModeShells ShellTables::shells(int first, int last, bool interlaced) const {
  return {points_,
          first,
          last,
          interlaced,
          1 / std::pow(points_, 3),
          window.data(),
          images.data(),
          alternating.data(),
          turns.data()};
}

}  // namespace grove
