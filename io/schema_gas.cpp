// Section `gas`.
#include "io/schema.hpp"
#include "io/schema_slots.hpp"

namespace grove::schema {

std::vector<Row> gas_rows() {
  using G = GasParameters;
  constexpr auto in = &Parameters::gas;
  return {
      {"gas", "kernel", choice(in, &G::kernel), dimension::none, any, optional,
       "over which particles are spread: with 100 neighbours (`wendland_c2`) or 50 (`cubic_spline`)"},
      {"gas", "formulation", choice(in, &G::formulation), dimension::none, any, optional,
       "of the forces between them: with terms for the gradients of H (`grad_h`), or without, by the mean of "
       "both kernels (`paper`)"},
      {"gas", "equation_of_state", choice(in, &G::equation_of_state), dimension::none, any, optional,
       "P = (gamma - 1) rho u; `isothermal`: u of each particle stays as it is"},
      {"gas", "adiabatic_index", at(in, &G::adiabatic_index), dimension::none, Range{1, 10, false}, optional,
       "gamma"},
      {"gas", "viscosity", at(in, &G::viscosity), dimension::none, not_negative, optional,
       "alpha of the artificial viscosity"},
      {"gas", "courant", at(in, &G::courant), dimension::none, Range{0, 1, false}, optional,
       "block steps are at most this times H over the largest signal speed"},
  };
}

}  // namespace grove::schema
