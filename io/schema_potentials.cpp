// Rows of the list `potentials`.
#include <fmt/format.h>

#include <type_traits>

#include "io/schema.hpp"
#include "io/words.hpp"

namespace grove::schema {

std::vector<Row> potential_rows(std::size_t index) {
  using P = PotentialParameters;
  const auto at = [=](auto member) {
    using T = std::remove_reference_t<decltype(P{}.*member)>;
    return Slot<T>([=](Parameters& p) -> T& { return p.potentials.at(index).*member; });
  };
  const std::string s = fmt::format("potentials[{}]", index);
  const Choice type{
      {words<PotentialKind>.begin(), words<PotentialKind>.end()},
      [=](const Parameters& p) { return static_cast<std::size_t>(p.potentials.at(index).kind); },
      [=](Parameters& p, std::size_t k) { p.potentials.at(index).kind = static_cast<PotentialKind>(k); }};
  return std::vector<Row>{
      {s, "type", type, dimension::none, any, required,
       "which potential; the keys below say what each takes"},
      {s, "position", at(&P::position), dimension::length, any, optional,
       "of its centre; uniform: where its potential is 0"},
      {s, "mass", at(&P::mass), dimension::mass, positive, optional,
       "of all of it; nfw: within concentration x scale"},
      {s, "scale", at(&P::scale), dimension::length, positive, optional,
       "plummer, hernquist, nfw: scale radius; miyamoto-nagai: a; logarithmic: core radius"},
      {s, "height", at(&P::height), dimension::length, positive, optional, "miyamoto-nagai: b, along z"},
      {s, "softening", at(&P::softening), dimension::length, not_negative, optional,
       "point-mass: Plummer-equivalent length of the spline; unset: none"},
      {s, "concentration", at(&P::concentration), dimension::none, positive, optional,
       "nfw: the radius that holds the mass, over scale"},
      {s, "cutoff", at(&P::cutoff), dimension::length, positive, optional,
       "nfw: radius at which its density ends; beyond it acts as a point mass; unset: nowhere"},
      {s, "velocity", at(&P::velocity), dimension::velocity, positive, optional,
       "logarithmic: circular velocity far out"},
      {s, "flattening", at(&P::flattening), dimension::none, positive, optional,
       "logarithmic: axis ratio q of the equipotentials along z; unset: 1"},
      {s, "acceleration", at(&P::acceleration), dimension::acceleration, any, optional,
       "uniform: the same everywhere"},
  };
}

}  // namespace grove::schema
