#include "commands/decompose_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "base/how_many.hpp"
#include "base/memory.hpp"
#include "base/pages.hpp"
#include "base/shares.hpp"
#include "decomposition/check.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "kernels/math/uniform_point.hpp"

namespace grove {
namespace {

/// Points in the unit cube, each made from its number alone, so the set does not depend on the ranks.
Particles uniform_particles(const Communicator& comm, const DecomposeOptions& options) {
  const Count count = options.uniform;
  const Count begin = share_begin(count, comm.rank(), comm.size());
  const Count end = share_begin(count, comm.rank() + 1, comm.size());
  const std::uint64_t stream = stream_of(options);
  Particles particles;
  comm.together([&] {
    try {
      particles.reset(static_cast<std::size_t>(end - begin));
    } catch (const std::exception&) {  // bad_alloc, length_error
      throw InputError(fmt::format("--uniform {}: no memory for {} on rank {}: use more ranks", count,
                                   how_many(end - begin, "particle"), comm.rank()));
    }
  });
  for (Count i = begin; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i - begin);
    const auto number = static_cast<std::uint64_t>(i);
    particles.position[at] = uniform_point(stream, number);
    particles.mass[at] = 1.0 / static_cast<double>(count);
    particles.id[at] = number + 1;
    particles.type[at] = 1;
  }
  return particles;
}

/// Those of the file; massless and coincident ones can be shared out.
Particles read_particles(const Communicator& comm, const DecomposeOptions& options) {
  Particles particles = read_snapshot(comm, options.file).particles;
  ValidationOptions sound{
      .source = options.file, .tracer = all_types, .softening = {}, .leaves = options.parameters.leaves};
  sound.softening.fill(1);
  validate(comm, particles, sound);
  return particles;
}

}  // namespace

std::uint64_t stream_of(const DecomposeOptions& options) { return mixed(options.seed); }

Particles host_particles(const Communicator& comm, const DecomposeOptions& options) {
  return options.uniform > 0 ? uniform_particles(comm, options) : read_particles(comm, options);
}

void decompose_on_host(const Communicator& comm, Particles particles,
                       const DecompositionParameters& parameters, const HostStorage& storage, bool is_last,
                       std::vector<DecomposeResult>& runs) {
  DecompositionReport report;
  release_pages();
  reset_peak_memory();
  const double before = memory_use().now;
  comm.barrier();
  const Domain domain = decompose(comm, *storage(particles, report), parameters, {}, report);
  add_run(comm, report, domain, runs);
  if (!is_last) return;
  DecomposeResult& result = runs.back();
  const auto bytes = static_cast<std::int64_t>(memory_use().peak - before);
  result.bytes_per_particle = static_cast<double>(comm.sum(bytes)) / static_cast<double>(result.particles);
  result.fault = check_domain(comm, particles, parameters, domain);
  result.tree_hash = tree_hash(comm, particles, domain);
}

/// Reading speed of the host's memory, while all ranks read.
double host_rate(const Communicator& comm) {
  const std::vector<std::uint64_t> numbers(std::size_t{1} << 25, 1);
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    const volatile std::uint64_t sum = std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
    static_cast<void>(sum);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(8 * numbers.size()) / comm.max(time.count()));
  }
  return best;
}

double ring_rate(const Communicator& comm, Count bytes,
                 const std::function<void(const ExchangePlan& plan)>& exchange) {
  std::vector<Count> counts(static_cast<std::size_t>(comm.size()), 0);
  counts[static_cast<std::size_t>((comm.rank() + 1) % comm.size())] = bytes;
  const ExchangePlan plan(comm, counts);
  exchange(plan);  // warm
  comm.barrier();
  const auto start = std::chrono::steady_clock::now();
  exchange(plan);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return static_cast<double>(bytes) / comm.max(time.count());
}

}  // namespace grove
