#pragma once

#include <array>
#include <map>
#include <string>

#include "io/parameters.hpp"
#include "kernels/math/decomposition_parameters.hpp"
#include "kernels/math/gas.hpp"
#include "kernels/math/leapfrog.hpp"
#include "kernels/math/opening.hpp"

/// The names of the values of enumerations that a user may choose from, in parameter files, on the
/// command line and in reports.
namespace grove {

/// The words of an enumeration, in the order of its values.
template <class Enum>
inline constexpr std::array<const char*, 0> words{};
template <>
inline constexpr std::array words<Criterion>{"opening_edge", "opening_radius", "multipole",
                                             "acceleration", "relative_edge",  "opening_cell"};
template <>
inline constexpr std::array words<Order>{"monopole", "quadrupole", "octupole"};
template <>
inline constexpr std::array words<SofteningKernel>{"plummer", "spline"};
template <>
inline constexpr std::array words<LocalTreeKind>{"bisection", "octree", "kd"};
template <>
inline constexpr std::array words<Curve>{"hilbert", "morton"};
template <>
inline constexpr std::array words<KdSplit>{"vmh", "vmh-tight", "middle", "median"};
template <>
inline constexpr std::array words<WalkKind>{"groups", "rope"};
template <>
inline constexpr std::array words<FirstForces>{"angle", "direct"};
template <>
inline constexpr std::array words<CutRule>{"domains", "middle", "halves", "centre"};
template <>
inline constexpr std::array words<CutMethod>{"bisection", "histogram"};
template <>
inline constexpr std::array words<Schedule>{"straddling", "master"};
template <>
inline constexpr std::array words<Transport>{"messages", "collectives"};
template <>
inline constexpr std::array words<PayloadPath>{"nccl", "mpi", "staged"};
template <>
inline constexpr std::array words<GpuSchedule>{"a", "b", "c", "d", "e"};

template <>
inline constexpr std::array words<Accuracy>{"fast", "standard", "high"};
template <>
inline constexpr std::array words<Integrator>{"leapfrog", "predictor_corrector"};
template <>
inline constexpr std::array words<StepKind>{"shared", "block"};
template <>
inline constexpr std::array words<PotentialKind>{"point-mass",     "plummer",     "hernquist", "nfw",
                                                 "miyamoto-nagai", "logarithmic", "uniform"};
template <>
inline constexpr std::array words<SmoothingKernel>{"wendland_c2", "cubic_spline"};
template <>
inline constexpr std::array words<GasFormulation>{"grad_h", "paper"};
template <>
inline constexpr std::array words<EquationOfState>{"ideal", "isothermal"};
template <>
inline constexpr std::array words<TuningCost>{"counted", "measured"};
template <>
inline constexpr std::array words<CentreOn>{"middle", "mass", "densest"};

template <class Enum>
const char* word_of(Enum value) {
  return words<Enum>[static_cast<std::size_t>(value)];
}

/// The values by their words.
template <class Enum>
std::map<std::string, Enum> values_by_word() {
  std::map<std::string, Enum> values;
  for (std::size_t i = 0; i < words<Enum>.size(); ++i) values[words<Enum>[i]] = static_cast<Enum>(i);
  return values;
}

}  // namespace grove
