// Friends of friends on one GPU: the linking of particles whose positions are there, phase by phase, beside
// the host's.
//
//   bench_fof_gpu [PARTICLES [MODEL [REPEATS]]]
//
// PARTICLES: 2^24. MODEL: halos, a periodic box with a quarter of its particles anywhere, and all others in
// spheres of Hernquist's profile, the k-th with a mass like 1/k, 200 times as dense as the mean; or a model
// of `grove ic`, in open space. The linking length is 0.2 mean distances of the particles; in open space of
// those in a cube around the origin with half of all coordinates in it. REPEATS (10): medians of so many.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "bench/gpu_bench.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/gpu/devices.hpp"
#include "forest/forest.hpp"
#include "kernels/cuda/neighbours/friend_linking.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/kokkos/runtime.hpp"
#include "neighbours/friend_finder.hpp"
#include "particles/models/model.hpp"
#include "support/particle_sets.hpp"

namespace grove {
namespace {

constexpr std::size_t spheres = 4096;

double now() {
  cuda::device_synchronise();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The number of the sphere of a particle, whose place in the sum of their masses is u.
std::size_t sphere_at(const std::vector<double>& mass_before, double u) {
  return static_cast<std::size_t>(
      std::upper_bound(mass_before.begin(), mass_before.end(), u * mass_before.back()) - mass_before.begin() -
      1);
}

Particles halos_in_box(std::size_t count) {
  std::vector<double> mass_before{0};
  for (std::size_t k = 1; k <= spheres; ++k)
    mass_before.push_back(mass_before.back() + 1.0 / static_cast<double>(k));
  Particles particles;
  particles.reset(count);
  for (std::size_t i = 0; i < count; ++i) {
    Vec3d& p = particles.position[i];
    particles.id[i] = i;
    p = test::place(test::Shape::uniform, i);
    if (i % 4 == 0) continue;
    const std::size_t k = sphere_at(mass_before, test::uniform(3 * count + 2 * i));
    const double mass = 0.75 / static_cast<double>(k + 1) / mass_before.back(),
                 edge = std::cbrt(0.75 * mass / (3.14159265 * 200)), scale = edge / 10;
    const double root = std::sqrt(test::uniform(3 * count + 2 * i + 1)) * edge / (edge + scale);
    const Vec3d u = p - Vec3d{0.5, 0.5, 0.5};
    p = test::place(test::Shape::uniform, count + k) + scale * root / (1 - root) / norm(u) * u;
    p = Box::periodic(1).wrapped(p);
  }
  return particles;
}

struct Problem {
  Particles particles;
  double length;
  Images images;

  Problem(std::size_t count, const std::string& model) {
    if (model == "halos") {
      particles = halos_in_box(count);
      length = 0.2 / std::cbrt(static_cast<double>(count));
      images = Images{1};
      return;
    }
    ModelParameters parameters;
    parameters.model = model;
    parameters.particles = static_cast<Count>(count);
    particles = make_particles(parameters);
    std::vector<double> x;
    for (const Vec3d& p : particles.position) x.push_back(std::abs(p.x));
    std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
    const double half = x[x.size() / 2];
    const auto inside = std::count_if(
        particles.position.begin(), particles.position.end(),
        [&](const Vec3d& p) { return std::abs(p.x) < half && std::abs(p.y) < half && std::abs(p.z) < half; });
    length = 0.2 * 2 * half / std::cbrt(static_cast<double>(inside));
  }
};

/// Medians of the phases.
std::vector<std::uint32_t> link_by_phase(const cuda::DeviceArray<Vec3d>& position, double length,
                                         const NearestImage& nearest, int repeats) {
  const cuda::DeviceArray<std::uint32_t> least(position.size());
  std::vector<std::vector<double>> times(6);
  std::uint32_t cells = 0;
  for (int i = 0; i <= repeats; ++i) {
    std::vector<double> at{now()};
    const cuda::Extent extent = cuda::find_extent(position.data(), position.size()).get();
    at.push_back(now());
    cuda::FriendLinking linking(position.data(), position.size(),
                                FriendGrid(extent.low, extent.high, length, nearest), length, nearest);
    at.push_back(now());
    linking.link_sparse();
    at.push_back(now());
    linking.link_crowded();
    at.push_back(now());
    linking.label(least.data());
    at.push_back(now());
    cells = linking.cells();
    for (std::size_t k = 0; k + 1 < at.size() && i > 0; ++k) times[k].push_back(at[k + 1] - at[k]);
    if (i > 0) times.back().push_back(at.back() - at.front());
  }
  for (auto& of_phase : times) std::sort(of_phase.begin(), of_phase.end());
  const auto median = [&](std::size_t phase) { return times[phase][times[phase].size() / 2]; };
  std::printf(
      "%u cells; all %.2f ms: extent %.2f, cells %.2f, sparse ones %.2f, crowded ones %.2f, labels %.2f\n",
      cells, median(5), median(0), median(1), median(2), median(3), median(4));
  std::vector<std::uint32_t> found(position.size());
  least.download(found);
  return found;
}

void print_groups(const std::vector<std::uint32_t>& least) {
  std::vector<std::uint32_t> members(least.size(), 0);
  for (const std::uint32_t first : least) ++members[first];
  const auto groups = [&](std::uint32_t least_members) {
    return std::count_if(members.begin(), members.end(), [&](std::uint32_t n) { return n >= least_members; });
  };
  std::printf("%lld groups of 20 or more, %lld of 2 or more; the largest has %u\n",
              static_cast<long long>(groups(20)), static_cast<long long>(groups(2)),
              *std::max_element(members.begin(), members.end()));
}

void run(const std::string& count, const std::string& model, int repeats) {
  const Communicator comm(MPI_COMM_WORLD);
  const RankDevices devices = take_devices(comm, false);
  Problem problem(bench::number_of(count), model);
  DecompositionReport report;
  const Domain domain = decompose(comm, problem.particles, {}, {}, report);
  Forest forest;
  forest.build(problem.particles, domain.box, domain.leaf_begin);
  const auto& places = problem.particles.position;
  std::printf("%s, %zu particles, linking length %.3g, %s", model.c_str(), places.size(), problem.length,
              devices.table().c_str());
  const cuda::DeviceArray<Vec3d> position{std::span<const Vec3d>(places)};
  const auto found = link_by_phase(position, problem.length, NearestImage::of(problem.images), repeats);
  print_groups(found);
  std::fflush(stdout);  // the host takes a minute

  Neighbours neighbours(comm, domain, forest.shapes(), problem.images);
  const double start = now();
  neighbours.search(places, Array<double>(places.size(), problem.length), NeighbourSearch::gather);
  const double searched = now();
  const Array<std::uint32_t> expected = HostFriends().find(neighbours, problem.length);
  std::printf("host: search %.0f ms, linking %.0f ms; %s\n", searched - start, now() - searched,
              std::equal(expected.begin(), expected.end(), found.begin(), found.end())
                  ? "the groups are the same"
                  : "OTHER GROUPS");
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    const grove::KokkosRuntime kokkos;
    grove::run(argc > 1 ? argv[1] : "2^24", argc > 2 ? argv[2] : "halos", argc > 3 ? std::atoi(argv[3]) : 10);
  } catch (const std::exception& error) {
    std::puts(error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
