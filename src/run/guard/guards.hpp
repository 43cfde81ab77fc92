#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "backend/backend.hpp"
#include "base/box.hpp"
#include "base/display_units.hpp"
#include "comm/communicator.hpp"
#include "comm/joint_reduction.hpp"
#include "kernels/math/gas.hpp"

/// Conditions that hold at all times in a run. Every check is collective. A condition that fails throws an
/// Agreed<std::runtime_error> that names it: the run ends before anything of it is written.
namespace grove {

/// The place of a run in time.
struct Moment {
  std::int64_t steps = 0;  ///< done
  double time = 0;
  DisplayUnits shown = DisplayUnits::none();  ///< what messages give values in

  std::string text() const;
};

/// Checks that an exchange brings all particles as they were. Alone a rank exchanges nothing. Cost: two
/// passes over the particles.
class ExchangeGuard {
 public:
  /// Before the exchange. Not collective.
  ExchangeGuard(const Communicator& comm, const Backend& backend);
  /// Behind it. Not collective.
  void look_again();
  /// After that: what has to be agreed on, with other things; this must stay where it is until
  /// require_same(). Waits for a GPU that is at the census still.
  void join(JointReduction& joint);
  /// When it is. exchange: what it was, for the message.
  void require_same(const std::string& exchange) const;
  /// All three at once.
  void check(const std::string& exchange);

 private:
  std::function<Census()> census() const;

  const Communicator& comm_;
  const Backend& backend_;
  std::function<Census()> own_before_, own_after_;  ///< of this rank
  Census before_, after_;                           ///< of all
};

/// number: of particles whose acceleration is no finite number, of all ranks. Names one that has lost its
/// place or its velocity, if there is any, else one of these; of several that with the lowest id. Cost, if
/// there are any: a copy of the particles.
void require_finite(const Communicator& comm, Backend& backend, Count number, const Moment& now);

/// The same of accelerations that were finite before forces of gas were added, and of rates of internal
/// energies. Behind those without place or velocity it names such without density or support radius. It also
/// tells of the gas with the largest internal energy, where that is the likely cause. physical: makes
/// internal energies, as they are stored, physical ones.
void require_finite_gas(const Communicator& comm, Backend& backend, Count number, const GasParameters& gas,
                        double physical, const Moment& now);

/// Names the particle with the lowest id of those whose position is no finite number, if there are any. Cost:
/// a copy of the particles.
void require_finite_positions(const Communicator& comm, Backend& backend, const Moment& now);

/// Fails if a few particles are beyond all others: 32 edges of the root cube of the decomposition before away
/// from it, and fewer than one in a thousand. Steps that fit the accelerations do not bring a particle there;
/// a system that expands takes most of its particles along. extent: at least the farthest distance from the
/// cube. Cost, where it is so large: a copy of the particles.
void require_no_runaway(const Communicator& comm, Backend& backend, const Box& before, double extent,
                        const Moment& now);

}  // namespace grove
