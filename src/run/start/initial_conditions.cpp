#include "initial_conditions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "base/shares.hpp"
#include "particles/models/model.hpp"

namespace grove {
namespace {

/// Particles that a rank makes between two pauses: some tenths of a second.
constexpr Count most_at_once = Count{1} << 17;

/// Calls work(first, last) for parts of a rank's share, as many on every rank, with a pause behind each.
template <class Work>
void in_parts(const Communicator& comm, Count first, Count last, const std::function<void()>& pause,
              const Work& work) {
  const Count parts = (comm.max(last - first) + most_at_once - 1) / most_at_once;
  for (Count part = 0; part < parts; ++part) {
    work(first + share_begin(last - first, part, parts), first + share_begin(last - first, part + 1, parts));
    if (pause) pause();
  }
}

void append(Particles& all, const Particles& part, std::size_t at) {
  for_each_field([&](const auto& field) {
    if (all.holds(field.info))
      std::copy((part.*field.array).begin(), (part.*field.array).end(),
                (all.*field.array).begin() + static_cast<std::ptrdiff_t>(at));
  });
}

}  // namespace

ModelParameters sample_of(ModelParameters model, double share) {
  if (!(share < 1)) return model;
  constexpr Count enough = 16;  // for a model of the most parts
  const auto shrink = [&](Count count) {
    return std::max(std::min(count, enough),
                    static_cast<Count>(std::llround(share * static_cast<double>(count))));
  };
  constexpr Count ModelParameters::*parts[] = {
      &ModelParameters::halo_particles, &ModelParameters::disk_particles, &ModelParameters::bulge_particles};
  const Model whole = make_model(model);
  model.particles = shrink(whole.count());
  if (std::none_of(std::begin(parts), std::end(parts), [&](auto part) { return model.*part > 0; }))
    return model;
  // Numbers of parts that are rounded need not add up to one of all; those of a second galaxy follow.
  model.particles = 0;
  for (auto part : parts) model.*part = 0;
  for (const Component& component : whole.components())
    if (Count& part = model.*parts[component.type - 1]; part == 0) part = shrink(component.count);
  return model;
}

Particles make_initial_conditions(const Communicator& comm, const ModelParameters& parameters,
                                  const std::function<void()>& pause) {
  std::optional<Model> model;
  comm.together([&] { model = make_model(parameters); });
  const Count first = share_begin(model->count(), comm.rank(), comm.size());
  const Count last = share_begin(model->count(), comm.rank() + 1, comm.size());

  std::vector<std::int64_t> sums = model->sums(first, first);
  in_parts(comm, first, last, pause, [&](Count begin, Count end) {
    const std::vector<std::int64_t> more = model->sums(begin, end);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
  });
  comm.sum(std::span<std::int64_t>(sums));
  model->centre(sums);
  Particles particles, part;
  if (model->has_gas()) particles.hold_gas();
  particles.resize(static_cast<std::size_t>(last - first));
  in_parts(comm, first, last, pause, [&](Count begin, Count end) {
    model->make(begin, end, part);
    append(particles, part, static_cast<std::size_t>(begin - first));
  });
  return particles;
}

}  // namespace grove
