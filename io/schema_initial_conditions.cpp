// Section `initial_conditions`: one source of particles, or the list of its components.
#include <fmt/format.h>

#include <algorithm>

#include "io/schema.hpp"
#include "io/schema_slots.hpp"
#include "particles/models/model.hpp"

namespace grove::schema {
namespace {

/// The source of all particles or of one component.
using Source = std::function<ParticleSource&(Parameters&)>;

template <class T>
Slot<T> of_model(const Source& source, T ModelParameters::*member) {
  return [=](Parameters& p) -> T& { return source(p).model.*member; };
}

template <class T>
Slot<T> of_placement(std::size_t index, T Placement::*member) {
  return [=](Parameters& p) -> T& { return p.initial_conditions.components.at(index).placement.*member; };
}

std::vector<std::string> names_of_models() {
  std::vector<std::string> names;
  for (const ModelInfo& model : model_infos()) names.emplace_back(model.name);
  return names;
}

/// The parameters that several models take. s: the section.
std::vector<Row> particle_rows(const std::string& s, const Source& source,
                               const std::vector<std::string>& models) {
  using M = ModelParameters;
  const auto of = [&](auto member) { return of_model(source, member); };
  return {
      {s, "file", Slot<std::string>([=](Parameters& p) -> std::string& { return source(p).file; }),
       dimension::none, any, optional, "snapshot to start from"},
      {s, "model", Word{models, of(&M::model)}, dimension::none, any, optional,
       "model to make instead of reading a file; `grove ic --help` says what each is"},
      {s, "n", of(&M::particles), dimension::none, Range{0, 1e12}, optional,
       "particles over all components; 0: the model's choice"},
      {s, "n_halo", of(&M::halo_particles), dimension::none, Range{0, 1e12}, optional,
       "disk-galaxy, merger (of the first galaxy): particles of the halo; 0: its share, 50 %, merger 60 %, "
       "of those that the others leave"},
      {s, "n_disk", of(&M::disk_particles), dimension::none, Range{0, 1e12}, optional,
       "the same of the disk; its share is 40 %"},
      {s, "n_bulge", of(&M::bulge_particles), dimension::none, Range{0, 1e12}, optional,
       "disk-galaxy: the same of the bulge; its share is 10 %"},
      {s, "equal_masses", of(&M::equal_masses), dimension::none, any, optional,
       "disk-galaxy, merger: all particles have the same mass, so that parts have as many as their masses "
       "ask for"},
      {s, "seed", of(&M::seed), dimension::none, not_negative, optional, "of the model's random numbers"},
      {s, "mass", of(&M::mass), dimension::mass, positive, optional,
       "M of the model's formulas; nfw, disk-galaxy: within rmax; merger: of the first galaxy; m31: the "
       "galaxy's unit, 1e10 Msun (all of it has 88)"},
      {s, "scale", of(&M::scale), dimension::length, positive, optional,
       "scale length, radius, edge or semi-major axis; m31: the galaxy's unit, 1 kpc"},
      {s, "rmax", of(&M::rmax), dimension::length, not_negative, optional,
       "radius at which a sphere or halo ends; 0: plummer 99.9 % of the mass, hernquist 50 scale, nfw and "
       "disk-galaxy concentration x scale, merger 8 scale"},
      {s, "concentration", of(&M::concentration), dimension::none, positive, optional,
       "of an nfw profile: rmax over scale length, unless rmax is given"},
      {s, "taper", of(&M::taper), dimension::length, not_negative, optional,
       "nfw, disk-galaxy, merger: length over which the halo falls off beyond rmax; 0: rmax / 10"},
  };
}

/// The shapes of single models.
std::vector<Row> shape_rows(const std::string& s, const Source& source) {
  using M = ModelParameters;
  const auto of = [&](auto member) { return of_model(source, member); };
  return {
      {s, "eccentricity", of(&M::eccentricity), dimension::none, not_negative, optional, "of kepler"},
      {s, "mass_ratio", of(&M::mass_ratio), dimension::none, positive, optional,
       "second body or galaxy over the first: kepler, merger"},
      {s, "disk_fraction", of(&M::disk_fraction), dimension::none, Range{0, 1}, optional,
       "fraction of the mass of a galaxy in its disk"},
      {s, "bulge_fraction", of(&M::bulge_fraction), dimension::none, Range{0, 1}, optional,
       "disk-galaxy: fraction of the mass in the bulge"},
      {s, "bulge_scale", of(&M::bulge_scale), dimension::length, not_negative, optional,
       "disk-galaxy: scale length of the bulge's Hernquist profile; 0: disk_scale / 5"},
      {s, "halo_spin", of(&M::halo_spin), dimension::none, any, optional,
       "disk-galaxy, merger: J / (sqrt(2) M V R) of the halo (Bullock et al. 2001), V the circular speed "
       "at R = rmax; cosmological halos have 0.035; 0: it does not turn; below 0: against the disk"},
      {s, "disk_scale", of(&M::disk_scale), dimension::length, not_negative, optional,
       "exponential scale length of the disk; 0: scale / 5"},
      {s, "disk_height", of(&M::disk_height), dimension::length, not_negative, optional,
       "z0 of the disk's sech^2(z / z0); 0: 0.15 disk_scale"},
      {s, "toomre_q", of(&M::toomre_q), dimension::none, not_negative, optional,
       "smallest Toomre Q in the disk"},
      {s, "pericentre", of(&M::pericentre), dimension::length, not_negative, optional,
       "merger: closest approach of the galaxies as point masses; 0: 0.6 scale"},
      {s, "separation", of(&M::separation), dimension::length, not_negative, optional,
       "merger: distance of the galaxies at the start; 0: 8 scale"},
  };
}

/// A file or a model.
std::vector<Row> source_rows(const std::string& s, const Source& source,
                             const std::vector<std::string>& models = names_of_models()) {
  return together({particle_rows(s, source, models), shape_rows(s, source)});
}

template <class T>
Slot<T> of_universe(T CosmologicalModelParameters::*member) {
  return [=](Parameters& p) -> T& { return p.initial_conditions.cosmological.*member; };
}

/// Rows of the models that fill a universe, which are no components.
std::vector<Row> cosmological_rows(const std::string& s) {
  using C = CosmologicalModelParameters;
  return {
      {s, "sites", of_universe(&C::sites), dimension::none, Range{0, 1 << 20}, optional,
       "cosmological-box, cosmological-sphere: sites of the lattice along each edge of the box"},
      {s, "glass", of_universe(&C::glass), dimension::none, any, optional,
       "of both: a file of `grove ic glass`, whose m^3 particles are the sites, sites / m times along each "
       "edge "
       "of the box, in place of a lattice"},
      {s, "box_size", of_universe(&C::box_size), dimension::length, positive, optional,
       "of both: comoving edge of the periodic box that the fluctuations are made in"},
      {s, "radius", of_universe(&C::radius), dimension::length, positive, optional,
       "cosmological-sphere: comoving radius, about the middle of the box, which becomes the origin"},
      {s, "redshift", of_universe(&C::redshift), dimension::none, not_negative, optional,
       "of both: when the particles are as they are; unset: that of `time.begin`"},
      {s, "displacements", Word{displacement_words, of_universe(&C::displacements)}, dimension::none, any,
       optional,
       "of both: `2lpt`, by Lagrangian perturbation theory to second order, or `zeldovich`, to first"},
      {s, "spectrum", of_universe(&C::spectrum), dimension::none, any, optional,
       "of both: `eisenstein_hu` (1998, with acoustic oscillations), `smooth` (without), or a file whose "
       "first columns "
       "are k in h/Mpc and P in (Mpc/h)^3, scaled to `cosmology.sigma8` if that is given, else today's"},
      {s, "fixed", of_universe(&C::fixed), dimension::none, any, optional,
       "of both: each mode has the amplitude that the spectrum says, phases alone are random"},
      {s, "paired", of_universe(&C::paired), dimension::none, any, optional,
       "of both: all phases the other way around, for the partner of a run without it"},
  };
}

constexpr const char* components_name = "initial_conditions.components";

std::vector<Row> component_rows(std::size_t index) {
  using P = Placement;
  const std::string s = fmt::format("{}[{}]", components_name, index);
  std::vector<Row> rows = source_rows(
      s, [=](Parameters& p) -> ParticleSource& { return p.initial_conditions.components.at(index); });
  const auto of = [&](auto member) { return of_placement(index, member); };
  const std::vector<Row> placement = {
      {s, "position", of(&P::position), dimension::length, any, optional,
       "where the component's origin is put; it does not move first: a model's is its centre of mass"},
      {s, "velocity", of(&P::velocity), dimension::velocity, any, optional, "added to all velocities"},
      {s, "inclination", Angle{of(&P::inclination)}, dimension::none, any, optional,
       "angle by which the component turns about the x axis, before it is moved"},
      {s, "node", Angle{of(&P::node)}, dimension::none, any, optional,
       "angle by which it turns about the z axis then"},
      {s, "type", of(&P::type), dimension::none, any, optional,
       "type that all its particles get, or a map from types to those that they get"},
      {s, "id_offset", of(&P::id_offset), dimension::none, any, optional,
       "added to the component's ids, which are 1, 2, ... in a model; unset: what lets them follow the "
       "greatest of the components before"},
  };
  rows.insert(rows.end(), placement.begin(), placement.end());
  return rows;
}

/// A file excludes what describes a model. name(key): the parameter's.
template <class Name>
std::vector<Exclusion> file_or_model(const std::vector<Row>& source, const Name& name) {
  std::vector<Exclusion> list;
  for (const Row& row : source)
    if (row.key != "file")
      list.push_back({name("file"), name(row.key), "the particles come from a file or from a model"});
  return list;
}

}  // namespace

std::vector<Row> initial_conditions_rows() {
  const std::string s = "initial_conditions";
  const Source all = [](Parameters& p) -> ParticleSource& { return p.initial_conditions; };
  std::vector<std::string> models = names_of_models();
  models.insert(models.end(), {cosmological_box, cosmological_sphere});
  std::vector<Row> rows = together({source_rows(s, all, models), cosmological_rows(s)});
  const List components{
      .count = [](const Parameters& p) { return p.initial_conditions.components.size(); },
      .resize = [](Parameters& p, std::size_t n) { p.initial_conditions.components.resize(n); },
      .rows = component_rows,
      .exclusions = file_or_model(source_rows("", all), [](const std::string& key) { return key; })};
  rows.push_back({s, "components", components, dimension::none, any, optional,
                  "several files or models put together, each with the keys below"});
  rows.push_back({s, "tracer",
                  TypeMask{[](Parameters& p) -> std::uint8_t& { return p.initial_conditions.tracer; }},
                  dimension::none, any, optional,
                  "types whose particles may have no mass: they feel forces and exert none"});
  rows.push_back({s, "molecular_weight",
                  at(&Parameters::initial_conditions, &InitialConditionsParameters::molecular_weight),
                  dimension::none, positive, optional,
                  "tipsy files: mean mass of the particles of their gas over that of a proton, by which "
                  "temperatures become internal energies; unset: their gas moves by gravity alone"});
  return rows;
}

std::vector<Exclusion> initial_conditions_exclusions() {
  std::vector<Exclusion> list;
  const std::vector<Row> source =
      together({source_rows("", [](Parameters& p) -> ParticleSource& { return p.initial_conditions; }),
                cosmological_rows("")});
  const auto name = [](const std::string& key) { return "initial_conditions." + key; };
  for (const Exclusion& exclusion : file_or_model(source, name)) list.push_back(exclusion);
  for (const Row& row : source)
    if (row.key != "seed")
      list.push_back({components_name, name(row.key), "each component says where its particles come from"});
  return list;
}

bool is_of_placement(const Row& row) {
  const std::vector<Row> source =
      source_rows("", [](Parameters& p) -> ParticleSource& { return p.initial_conditions; });
  return std::none_of(source.begin(), source.end(), [&](const Row& other) { return other.key == row.key; });
}

}  // namespace grove::schema
