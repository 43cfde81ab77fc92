#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "backend/backend.hpp"
#include "comm/communicator.hpp"

namespace grove {

/// A number that a computation found, and what it is known to be.
struct SelfCheck {
  std::string name;
  double found, expected, tolerance;
  /// A value that is not a number has not passed.
  bool passed() const { return std::abs(found - expected) <= tolerance; }
};

/// A function that takes the checks, one after the other; the same on every rank.
using SelfCheckReport = std::function<void(const SelfCheck&)>;

/// Makes the backend of these ranks.
using BackendMaker =
    std::function<std::unique_ptr<Backend>(const Communicator&, Particles, const GravityParameters&)>;

/// The machine that the checks compute on.
struct SelfTestMachine {
  const Communicator& comm;
  BackendMaker make;
};

/// Forces and potentials in spheres of Plummer, Hernquist and Navarro, Frenk and White, their energies and
/// half-mass radii; forces against direct summation.
void check_spheres(const SelfTestMachine& machine, const SelfCheckReport& report);

/// Two softened bodies at distances where their force and potential are known; each rank by itself.
void check_softening(const SelfTestMachine& machine, const SelfCheckReport& report);

/// Two bodies on an ellipse, each rank by itself; a cold sphere that collapses, a sphere in equilibrium.
void check_motion(const SelfTestMachine& machine, const SelfCheckReport& report);

/// The same forces, bit for bit, of all ranks together and of one alone. Nothing to check on one rank.
void check_ranks(const SelfTestMachine& machine, const SelfCheckReport& report);

/// All of these, in this order; G = 1 throughout. Collective. Cost: some ten seconds on two cores.
void selftest(const SelfTestMachine& machine, const SelfCheckReport& report);

}  // namespace grove
