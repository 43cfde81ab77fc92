#include "composition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "initial_conditions.hpp"
#include "io/validate.hpp"
#include "particles/models/model.hpp"

namespace grove {
namespace {

constexpr ParticleId greatest_possible = std::numeric_limits<ParticleId>::max();

/// The least and the greatest id of a component, over all ranks.
struct IdRange {
  ParticleId least = greatest_possible, greatest = 0;
  bool empty() const { return least > greatest; }
  bool meets(const IdRange& other) const { return least <= other.greatest && other.least <= greatest; }
};

IdRange range_of_ids(const Communicator& comm, const Particles& particles) {
  IdRange range;
  for (const ParticleId id : particles.id)
    range.least = std::min(range.least, id), range.greatest = std::max(range.greatest, id);
  return {comm.min(range.least), comm.max(range.greatest)};
}

/// The offset that moves the ids of a component behind those of the ones before, unless the user says
/// otherwise.
ParticleId offset_of(const Placement& placement, const IdRange& own, std::span<const IdRange> before) {
  ParticleId offset = 0;
  for (const IdRange& other : before)
    if (!other.empty()) offset = std::max(offset, other.greatest);
  const bool is_first = std::all_of(before.begin(), before.end(), [](const IdRange& r) { return r.empty(); });
  if (is_first)
    offset = 0;
  else if (own.least == 0)
    ++offset;
  offset = placement.id_offset.value_or(offset);
  if (!own.empty() && own.greatest > greatest_possible - offset)
    throw InputError(
        fmt::format("its greatest id is {}, and an offset of {} leads beyond 2^64: give an "
                    "id_offset that does not, or make the ids of the others smaller",
                    own.greatest, offset));
  return offset;
}

void append(Particles& all, Particles& part) {
  if (part.has_gas) all.hold_gas();
  if (all.has_gas) part.hold_gas();
  for_each_field([&](const auto& field) {
    if (!all.holds(field.info)) return;
    auto& values = all.*field.array;
    const auto& more = part.*field.array;
    values.insert(values.end(), more.begin(), more.end());
  });
}

/// Runs collective work whose errors then name the component.
template <class Work>
auto named(const std::string& component, const Work& work) {
  try {
    return work();
  } catch (const Agreed<InputError>& error) {
    throw Agreed<InputError>(fmt::format("{}: {}", component, error.what()));
  }
}

Particles particles_of(const Communicator& comm, const ComponentParameters& component,
                       const CompositionOptions& options, std::vector<SnapshotHeader>& headers) {
  if (component.file.empty())
    return make_initial_conditions(comm, sample_of(component.model, options.share), options.pause);
  ReadOptions reading;
  reading.unstated = options.unstated;
  reading.convert_to = options.units;
  reading.gas = options.gas;
  reading.share = options.share;
  reading.pause = options.pause;
  Snapshot snapshot = read_snapshot(comm, component.file, reading);
  ValidationOptions validation;
  validation.source = component.file;
  if (options.share == 1) validation.header = &snapshot.header;
  for (std::size_t t = 0; t < component.placement.type.size(); ++t)
    if (options.tracer >> component.placement.type[t] & 1)
      validation.tracer = static_cast<std::uint8_t>(validation.tracer | 1u << t);
  validate_values(comm, snapshot.particles, validation);
  if (options.share == 1) validate_ids(comm, snapshot.particles, validation);
  headers.push_back(std::move(snapshot.header));
  return std::move(snapshot.particles);
}

/// A file of a set stands for all of it: two of them would double its particles. The same file may be there
/// twice, to be placed twice. files, headers: of the components that come from files.
void require_other_sets(std::span<const std::string> files, std::span<const SnapshotHeader> headers) {
  const std::size_t last = headers.size() - 1;
  for (std::size_t i = 0; i < last; ++i)
    if (headers[i].files == headers[last].files && headers[i].files.size() > 1 && files[i] != files[last])
      throw InputError(fmt::format("{} is of the set of {}, which is read as a whole: give one of its files",
                                   files[last], files[i]));
}

/// Ranges of ids may cross without a clash, as where one component has the even ones: then all are compared.
void require_unique_ids(const Communicator& comm, const Particles& particles, std::span<const IdRange> ids,
                        const CompositionOptions& options) {
  for (std::size_t i = 0; i < ids.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!ids[i].empty() && !ids[j].empty() && ids[i].meets(ids[j])) {
        ValidationOptions validation;
        validation.source = fmt::format(
            "{0}[{1}] has ids {2} to {3}, {0}[{4}] {5} to {6}: leave id_offset out, or give one that keeps "
            "them apart",
            options.name, j, ids[j].least, ids[j].greatest, i, ids[i].least, ids[i].greatest);
        return validate_ids(comm, particles, validation);
      }
}

}  // namespace

void place(const Placement& placement, Particles& particles) {
  constexpr double degree = std::numbers::pi / 180;
  const Rotation turn = Rotation::inclined(placement.inclination * degree, placement.node * degree);
  for (Vec3d& x : particles.position) x = placement.position + turn(x);
  for (Vec3d& v : particles.velocity) v = placement.velocity + turn(v);
  for (std::uint8_t& type : particles.type) type = placement.type[type];
}

Composition compose(const Communicator& comm, std::span<const ComponentParameters> components,
                    const CompositionOptions& options) {
  Composition all;
  std::vector<std::string> files;
  std::vector<IdRange> ids;
  for (std::size_t i = 0; i < components.size(); ++i)
    named(fmt::format("{}[{}]", options.name, i), [&] {
      const Placement& placement = components[i].placement;
      Particles own = particles_of(comm, components[i], options, all.headers);
      if (!components[i].file.empty()) {
        files.push_back(components[i].file);
        comm.together([&] { require_other_sets(files, all.headers); });
      }
      IdRange range = range_of_ids(comm, own);
      ParticleId offset = 0;
      comm.together([&] { offset = offset_of(placement, range, ids); });
      place(placement, own);
      if (placement.type[gas_type] != gas_type) own.forget_gas();
      for (ParticleId& id : own.id) id += offset;
      if (!range.empty()) range.least += offset, range.greatest += offset;
      ids.push_back(range);
      append(all.particles, own);
    });
  require_unique_ids(comm, all.particles, ids, options);
  return all;
}

}  // namespace grove
