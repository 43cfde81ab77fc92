// The layout of nodes in memory: the same walk along ropes on one GPU, through records of 16, 32 and 64
// bytes.
//
//   bench_node_layout_gpu [PARTICLES,... [THETA [REPEATS]]]
//
// A uniform sphere of equal masses, G = M = radius = 1, Plummer softening 1e-3; one octree in Hilbert's
// order, made on the host, a particle in each bucket; monopoles; criterion opening_cell. A node takes 32
// bytes: what each visit reads (place, reach, ropes) and its mass. They lie in two records of 16 bytes in
// arrays of their own, in one of 32, or in one of 64 whose other half is not read, as where higher moments
// stand beside. Milliseconds, medians of REPEATS (9) after one more; interactions per particle. The bits must
// be the same.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/gpu_bench.hpp"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/kokkos/runtime.hpp"
#include "particles/models/model.hpp"
#include "support/grown.hpp"

namespace grove {
namespace {

constexpr int threads = 128;
constexpr double softening = 1e-3;

struct alignas(16) Place {
  Vec3f centre;
  float reach2;
};
struct alignas(16) Way {
  float mass;
  std::int32_t child, next, first;  ///< as NodeLinks
};

/// Nodes in records of so many bytes.
template <int bytes>
struct Nodes;

template <>
struct Nodes<16> {
  const Place* places;
  const Way* ways;
  __device__ Place place(std::int32_t n) const { return places[n]; }
  __device__ Way way(std::int32_t n) const { return ways[n]; }
};

template <int bytes>
struct Nodes {
  struct alignas(bytes) Record {
    Place place;
    Way way;
  };
  const Record* records;
  __device__ Place place(std::int32_t n) const { return records[n].place; }
  __device__ Way way(std::int32_t n) const { return records[n].way; }
};

template <class Layout>
__global__ void __launch_bounds__(threads)
    follow(const Layout nodes, const SourceParticle* particles, std::uint32_t count, float softening2,
           Vec3f* sums, std::uint32_t* interactions) {
  const std::uint32_t target = blockIdx.x * threads + threadIdx.x;
  if (target >= count) return;
  const Vec3f at = particles[target].position;
  Vec3f sum{0, 0, 0};
  std::uint32_t met = 0;
  for (std::int32_t n = 0; n >= 0;) {
    const Place place = nodes.place(n);
    const Way way = nodes.way(n);
    const Vec3f d = place.centre - at;
    const float distance2 = norm2(d);
    const bool is_other = way.child < 0 && way.first != static_cast<std::int32_t>(target);
    if (distance2 > place.reach2 || is_other) {
      const float inverse = rsqrtf(distance2 + softening2);
      sum = sum + d * (way.mass * inverse * inverse * inverse);
      ++met;
    }
    n = distance2 > place.reach2 || way.child < 0 ? way.next : way.child;
  }
  sums[target] = sum;
  interactions[target] = met;
}

/// The octree, and results of the last walk.
class Bench {
 public:
  Bench(std::size_t count, double theta) {
    ModelParameters sphere;
    sphere.model = "uniform-sphere";
    sphere.particles = static_cast<Count>(count);
    Particles particles = make_particles(sphere);
    GravityParameters gravity;
    gravity.criterion = Criterion::opening_cell;
    gravity.theta = theta;
    gravity.softening.fill(softening);
    grown_.prepare(particles, softening);
    grown_.sort(particles, static_cast<Count>(count));
    grown_.build(particles, *octree_builder(Curve::hilbert, 1));
    grown_.moments(particles, gravity, 0);
    const auto leaves = grown_.forest.own_leaves(particles, particles);
    tree_ = leaves.trees[0];
    particles_ = cuda::DeviceArray<SourceParticle>{std::span(tree_.particles, count)};
    sums_ = cuda::DeviceArray<Vec3f>(count);
    interactions_ = cuda::DeviceArray<std::uint32_t>(count);
    for (std::int32_t n = 0; n < tree_.nodes; ++n) {
      const NodeCore& core = tree_.core[n];
      const NodeLinks& links = tree_.links[n];
      places_.push_back({core.centre, core.reach2});
      ways_.push_back({core.mass, links.child, links.next, links.first});
    }
  }

  void measure(int repeats) {
    const cuda::DeviceArray<Place> places{std::span<const Place>(places_)};
    const cuda::DeviceArray<Way> ways{std::span<const Way>(ways_)};
    walk(16, Nodes<16>{places.data(), ways.data()}, repeats);
    measure_records<32>(repeats);
    measure_records<64>(repeats);
  }

 private:
  template <int bytes>
  void measure_records(int repeats) {
    using Record = typename Nodes<bytes>::Record;
    std::vector<Record> records;
    for (std::size_t n = 0; n < places_.size(); ++n) records.push_back({places_[n], ways_[n]});
    const cuda::DeviceArray<Record> on_gpu{std::span<const Record>(records)};
    walk(bytes, Nodes<bytes>{on_gpu.data()}, repeats);
  }

  template <class Layout>
  void walk(int bytes, const Layout& nodes, int repeats) {
    const std::size_t count = particles_.size();
    const double length = softening / grown_.units.length;
    const double time = bench::milliseconds(repeats, [&] {
      follow<<<cuda::blocks_for(count, threads), threads>>>(
          nodes, particles_.data(), static_cast<std::uint32_t>(count), static_cast<float>(length * length),
          sums_.data(), interactions_.data());
      cuda::launched("a walk");
    });
    std::vector<std::uint32_t> met(count);
    interactions_.download(met);
    double all = 0;
    for (const std::uint32_t each : met) all += each;
    std::vector<Vec3f> sums(count);
    sums_.download(sums);
    const auto bits = static_cast<unsigned long long>(bench::checksum(std::span<const Vec3f>(sums)));
    if (bits_.value_or(bits) != bits) throw std::runtime_error("records of this length give other bits");
    bits_ = bits;
    std::printf("%8zu %2d bytes %9.3f ms %8.1f interactions, bits %016llx\n", count, bytes, time,
                all / static_cast<double>(count), bits);
  }

  testing::Grown grown_;
  SourceTree tree_;
  std::vector<Place> places_;
  std::vector<Way> ways_;
  cuda::DeviceArray<SourceParticle> particles_;
  cuda::DeviceArray<Vec3f> sums_;
  cuda::DeviceArray<std::uint32_t> interactions_;
  std::optional<unsigned long long> bits_;  ///< of the first layout
};

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  const grove::KokkosRuntime kokkos;
  try {
    grove::cuda::select_device(0, false);
    const std::string counts = argc > 1 ? argv[1] : "50000,100000,200000,400000,800000";
    for (const std::string& count : grove::bench::items_of(counts))
      grove::Bench(grove::bench::number_of(count), argc > 2 ? std::stod(argv[2]) : 0.6)
          .measure(argc > 3 ? std::stoi(argv[3]) : 9);
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}
