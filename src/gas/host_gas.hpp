#pragma once

#include <cstddef>
#include <span>

#include "base/array.hpp"
#include "forest/tree_builder.hpp"
#include "gas/gas.hpp"
#include "neighbours/neighbours.hpp"

namespace grove {

/// Gas in the memory of the host.
class HostGas : public Gas {
 public:
  /// particles: in tree order when anything is asked for; shapes: of their trees (HostGravity::shapes()). All
  /// are kept by the caller.
  HostGas(const Communicator& comm, const GasParameters& parameters, const Images& images,
          Particles& particles, const TreeShapes& shapes)
      : Gas(parameters), comm_(comm), images_(images), particles_(particles), shapes_(shapes) {}

  Count evaluate(const Domain& domain, int first_active, const GasMoment& now) override;
  RungCounts limit_rungs(const Domain& domain, const StepRule& rule, int first_active,
                         const InsideSteps& inside) override;

 private:
  GasFields fields() const;
  void limit_by_signals(const StepRule& rule, int first_active);
  void limit_by_neighbours(const Domain& domain, int first_active, const InsideSteps& inside);
  void predict(const GasMoment& now);
  void find_densities(const Domain& domain, int first_active, const GasSpace& space);
  Array<double> first_radii(const Domain& domain) const;
  void require_neighbours(const Domain& domain, std::span<const double> radius) const;
  Array<GasSource> sources(const GasSpace& space);
  Count find_rates(const Domain& domain, int first_active, const GasSpace& space);
  bool is_gas(std::size_t i) const { return particles_.type[i] == gas_type; }

  const Communicator& comm_;
  Images images_;
  Particles& particles_;
  const TreeShapes& shapes_;
  Array<Vec3d> velocity_;  ///< [particles] at the present time
  Array<double> energy_;   ///< [particles] GasFields::present_energy()
};

}  // namespace grove
