#include "io/parameter_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/errors.hpp"
#include "io/schema.hpp"
#include "io/words.hpp"
#include "kernels/math/tree_fault.hpp"

namespace grove {
namespace {

using schema::Row;

/// The particles must come from somewhere.
void check_sources(const InitialConditionsParameters& from, const std::vector<Entry>& entries,
                   const std::string& name) {
  const auto is_missing = [](const ParticleSource& source) {
    return source.file.empty() && source.model.model.empty();
  };
  if (const Entry* list = find(entries, "initial_conditions.components"); list && from.components.empty())
    fail(*list, "is empty; expected a list of maps, each with file or model");
  for (std::size_t i = 0; i < from.components.size(); ++i)
    if (is_missing(from.components[i]))
      throw InputError(
          fmt::format("{}: initial_conditions.components[{}]: give file (a snapshot) or model", name, i));
  if (from.components.empty() && is_missing(from))
    throw InputError(
        fmt::format("{}: give initial_conditions.file (a snapshot), initial_conditions.model, or "
                    "initial_conditions.components",
                    name));
}

/// Refuses keys that only the models of a universe take, and these models without the keys that they need.
void check_cosmological_model(const Parameters& p, const std::vector<Entry>& entries) {
  const InitialConditionsParameters& from = p.initial_conditions;
  if (is_cosmological(from.model.model)) {
    const Entry& model = *find(entries, "initial_conditions.model");
    if (!p.universe) fail(model, fmt::format("{} needs section cosmology", from.model.model));
    if (from.model.particles > 0)
      fail(*find(entries, "initial_conditions.n"),
           fmt::format("the number of particles of {} comes from sites", from.model.model));
    return;
  }
  if (from.cosmological == CosmologicalModelParameters{}) return;
  for (const std::string& key : cosmological_model_keys)
    if (const Entry* entry = find(entries, fmt::format("initial_conditions.{}", key)))
      fail(*entry, fmt::format("is of the models {} and {}", cosmological_box, cosmological_sphere));
}

/// Refuses keys that static space alone takes, or expanding space alone, in the other one.
void check_expansion(const Parameters& p, const std::vector<Entry>& entries) {
  if (!p.universe) {
    if (const Entry* step = find(entries, "time.step_ln_a"))
      fail(*step, "space is static; give section cosmology, or time.step");
    const auto& softening = p.max_physical_softening;  // used-parameters.yml has it, as 0
    const bool is_limited =
        std::any_of(softening.begin(), softening.end(), [](double most) { return most > 0; });
    if (const Entry* most = find(entries, "gravity.max_physical_softening"); most && is_limited)
      fail(*most,
           "space is static, where gravity.softening is physical; give section cosmology, or leave it out");
    return;
  }
  if (p.time.integrator != Integrator::leapfrog)
    fail(*find(entries, "time.integrator"), "particles in expanding space go by leapfrog alone");
  if (!p.potentials.empty())
    fail(*find(entries, "potentials"), "potentials stand still, and a universe with a cosmology expands");
}

/// Softening takes the place of lengths that are not given.
void check_step_lengths(const Parameters& p, const std::vector<Entry>& entries) {
  if (p.time.steps == StepKind::shared || p.time.min_step > 0) return;
  for (std::size_t type = 0; type < particle_types; ++type)
    if (p.time.length[type] > 0 || p.gravity.softening[type] > 0) return;
  fail(*find(entries, "gravity.softening"),
       "without softening block time steps have no length to go by; give time.length, or time.min_step, or "
       "time.steps: shared");
}

void check_splitting(const Parameters& p, const std::vector<Entry>& entries) {
  if (p.gravity.critical_separation > 0 && !p.gravity.splits_groups())
    fail(*find(entries, "gravity.critical_separation"),
         "only groups that walk octrees are split; give gravity.tree: octree and gravity.walk: groups, or "
         "leave it out");
}

/// A setting of trees that the run has not got would be lost.
void check_tree(const Parameters& p, const std::vector<Entry>& entries) {
  const GravityParameters other;
  if (p.gravity.bucket != other.bucket && follows_from_counts(p.gravity.tree))
    fail(*find(entries, "gravity.bucket"),
         "bisections end at buckets of 8; give gravity.tree: octree or kd, or leave it out");
  if (p.gravity.split != other.split && p.gravity.tree != LocalTreeKind::kd)
    fail(*find(entries, "gravity.split"),
         "only kd-trees are cut by it; give gravity.tree: kd, or leave it out");
  if (p.gravity.curve != other.curve && p.gravity.tree != LocalTreeKind::octree)
    fail(*find(entries, "gravity.curve"),
         "only cells of octrees are ordered by it; give gravity.tree: octree, or leave it out");
  if (const char* fault = fault_of_trees(p.gravity)) fail(*find(entries, "gravity.criterion"), fault);
  if (const char* fault = fault_of_order(p.gravity)) fail(*find(entries, "gravity.order"), fault);
}

/// Each kind of potential has keys of its own.
void check_potentials(const Parameters& p, const std::vector<Entry>& entries) {
  for (std::size_t i = 0; i < p.potentials.size(); ++i) {
    const std::string prefix = fmt::format("potentials[{}].", i);
    const Entry* const type = find(entries, prefix + "type");
    const char* const kind = word_of(p.potentials[i].kind);
    std::vector<std::string> names{"type", "position"};
    for (const PotentialKey& key : keys_of(p.potentials[i].kind)) {
      names.push_back(key.name);
      if (key.required && !find(entries, prefix + key.name))
        fail(*type, fmt::format("{} needs {}{} as well", kind, prefix, key.name));
    }
    for (const Entry& entry : entries)
      if (entry.name.starts_with(prefix) &&
          std::find(names.begin(), names.end(), entry.name.substr(prefix.size())) == names.end())
        fail(entry, fmt::format("{} has none; it takes {}", kind, fmt::join(names, ", ")));
  }
}

/// Modes have numbers in a periodic box alone.
void check_spectra(const Parameters& p, const std::vector<Entry>& entries) {
  if (p.output.power && !p.box.periodic)
    fail(*find(entries, "output.power"),
         "a power spectrum is one of a periodic box; give box.periodic: true");
}

/// Audits compare the gravity of particles.
void check_audits(const Parameters& p, const std::vector<Entry>& entries) {
  if (!p.gravity.self_gravity && p.audit.every > 0)
    fail(*find(entries, "audit.every"),
         "with gravity.self_gravity: false there are no forces to check; leave it out");
}

void check_pictures(const Parameters& p, const std::vector<Entry>& entries) {
  const View& view = p.output.view;
  if (view.pixels != 0 && view.pixels < View::fewest_pixels)
    fail(*find(entries, "output.render.pixels"),
         fmt::format("{} is out of range; expected 0, or at least {}", view.pixels, View::fewest_pixels));
  if (!view.limits.empty() && (view.limits.size() != 2 || view.limits[0] == view.limits[1]))
    fail(*find(entries, "output.render.limits"), "expected two different column densities, [low, high]");
}

/// Catalogues are made of snapshots, and need the linking length, or something that it follows from.
void check_halos(const Parameters& p, const std::vector<Entry>& entries) {
  if (const Entry* length = find(entries, "output.fof_length"); length && !p.output.fof)
    fail(*length, "there are no catalogues of halos; give output.fof: true");
  if (!p.output.fof) return;
  const Entry& fof = *find(entries, "output.fof");
  if (!p.output.fof_length && !p.box.periodic && !p.universe)
    fail(fof, "there is neither a periodic box nor section cosmology; give output.fof_length");
  for (const char* name : {"Coordinates", "Velocities", "Masses"})
    if (const auto& written = p.output.fields;
        !written.empty() && std::find(written.begin(), written.end(), name) == written.end())
      fail(fof, fmt::format("catalogues are made of snapshots, so output.fields must have {}", name));
}

}  // namespace

void check_together(const Parameters& p, const std::vector<Entry>& entries, const std::string& name) {
  for (const schema::Exclusion& exclusion : schema::exclusions_of(p)) {
    const Entry *first = find(entries, exclusion.first), *second = find(entries, exclusion.second);
    if (first && second)
      fail(*second, fmt::format("contradicts {} ({}): {}; give one of them", first->name, first->where,
                                exclusion.reason));
  }
  for (const Row& row : schema::rows_of(p))
    if (row.required && !find(entries, row.name()) &&
        !(row.name() == "time.step" && find(entries, "time.step_ln_a")))
      throw InputError(
          fmt::format("{}: {} must be given: {} ({})", name, row.name(), row.help, schema::kind_of(row)));
  check_sources(p.initial_conditions, entries, name);
  check_cosmological_model(p, entries);
  if (p.time.begin && *p.time.begin > p.time.end)
    fail(*find(entries, "time.end"),
         fmt::format("{} lies before time.begin, {}", p.shown.text(p.time.end, dimension::time),
                     p.shown.text(*p.time.begin, dimension::time)));
  check_expansion(p, entries);
  check_step_lengths(p, entries);
  check_splitting(p, entries);
  check_tree(p, entries);
  check_potentials(p, entries);
  check_spectra(p, entries);
  check_audits(p, entries);
  check_pictures(p, entries);
  check_halos(p, entries);
}

}  // namespace grove
