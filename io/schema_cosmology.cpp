// Section `cosmology`.
#include "io/cosmology_parameters.hpp"
#include "io/schema.hpp"
#include "io/schema_slots.hpp"

namespace grove::schema {

std::vector<Row> cosmology_rows() {
  using C = CosmologyParameters;
  constexpr auto in = &Parameters::cosmology;
  constexpr Range share{0, 10};
  return {
      {"cosmology", "preset", Word{cosmology_presets(), at(in, &C::preset)}, dimension::none, any, optional,
       "values of all that is not given: `planck2018` (Planck 2018 with BAO: h 0.6766, matter 0.3111, flat), "
       "`eds` "
       "(matter alone)"},
      {"cosmology", "h", at(in, &C::h), dimension::none, positive, optional,
       "the Hubble constant over 100 km/s/Mpc"},
      {"cosmology", "omega_matter", at(in, &C::omega_matter), dimension::none, Range{0, 10, false}, optional,
       "all matter today, in units of the critical density"},
      {"cosmology", "omega_lambda", at(in, &C::omega_lambda), dimension::none, Range{-10, 10}, optional,
       "dark energy today; what is missing to 1 is curvature"},
      {"cosmology", "omega_radiation", at(in, &C::omega_radiation), dimension::none, share, optional,
       "photons and massless neutrinos today; unset: 0"},
      {"cosmology", "w0", at(in, &C::w0), dimension::none, Range{-3, 1}, optional,
       "pressure of dark energy over its density today; unset: -1"},
      {"cosmology", "wa", at(in, &C::wa), dimension::none, Range{-3, 3}, optional,
       "how it changes: w0 + wa (1 - a); unset: 0"},
      {"cosmology", "omega_baryon", at(in, &C::omega_baryon), dimension::none, share, optional,
       "baryons within omega_matter, for the spectrum of initial conditions"},
      {"cosmology", "sigma8", at(in, &C::sigma8), dimension::none, positive, optional,
       "today's linear fluctuations of mass in spheres of 8 Mpc/h, for that spectrum"},
      {"cosmology", "spectral_index", at(in, &C::spectral_index), dimension::none, Range{0, 2}, optional,
       "of primordial fluctuations"},
      {"cosmology", "centre", at(in, &C::centre), dimension::length, any, optional,
       "comoving centre of the sphere that the particles fill, about which space expands; unset: the origin"},
  };
}

}  // namespace grove::schema
