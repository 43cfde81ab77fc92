// Direct summation on one GPU: pairs per second against the number of particles and of targets.
//
//   bench_direct_gpu [KERNEL] [LOG2_SINGLE] [LOG2_DOUBLE] [REPEATS]
//
// KERNEL: spline, plummer. In single precision all of 2^10 .. 2^LOG2_SINGLE (20) particles, then runs of few
// of the most; in double precision few of 2^14 .. 2^LOG2_DOUBLE (20) particles. A Plummer model along a
// Hilbert curve, equal masses, G = M = a = 1, softening 1e-3. Medians of REPEATS (5) after one more; the
// errors of single precision are those of up to 1024 accelerations.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "bench/curve_order.hpp"
#include "bench/gpu_bench.hpp"
#include "kernels/cuda/direct/direct_force.hpp"
#include "support/distributions.hpp"

namespace grove {
namespace {

using cuda::DeviceArray;

class Model {
 public:
  Model(std::size_t count, const GravityParameters& gravity) : gravity_(gravity) {
    testing::ShapeSampler sample(testing::Shape::plummer, 1);
    std::vector<Vec3d> unsorted, sorted;
    for (std::size_t i = 0; i < count; ++i) unsorted.push_back(sample(i));
    for (const std::uint32_t i : bench::order_along(std::span<const Vec3d>(unsorted), bench::hilbert_key))
      sorted.push_back(unsorted[i]);
    const double mass = 1 / static_cast<double>(count);
    units_ = WalkUnits::of(128, gravity.softening[0], mass, static_cast<Count>(count));
    position_ = DeviceArray<Vec3d>{std::span<const Vec3d>(sorted)};
    mass_ = DeviceArray<double>{std::span<const double>(std::vector<double>(count, mass))};
    type_ = DeviceArray<std::uint8_t>{std::span<const std::uint8_t>(std::vector<std::uint8_t>(count, 1))};
  }

  cuda::DirectParticles view() const {
    return {position_.data(), mass_.data(), type_.data(), position_.size()};
  }

  void measure_single(std::size_t first, std::size_t count, int repeats) const {
    const DeviceArray<Vec3f> acceleration(count);
    const DeviceArray<float> potential(count);
    const double time = bench::milliseconds(repeats, [&] {
      cuda::direct_force(gravity_, units_, view(), {first, count}, acceleration.data(), potential.data());
    });
    std::vector<Vec3f> a(count);
    acceleration.download(a);
    const bench::Errors errors = bench::errors_of(gravity_, view(), first, a);
    std::printf("single %9zu x %9zu %11.4f ms %8.2f e9 pairs/s, errors %.1e %.1e %.1e, bits %016llx\n", count,
                position_.size(), time, pairs_per_microsecond(count, time) * 1e-3, errors.median, errors.p99,
                errors.largest, static_cast<unsigned long long>(bench::checksum(std::span<const Vec3f>(a))));
  }

  void measure_double(std::size_t count, int repeats) const {
    std::vector<std::uint32_t> targets;
    for (std::size_t k = 0; k < count; ++k)
      targets.push_back(static_cast<std::uint32_t>(k * position_.size() / count));
    const DeviceArray<std::uint32_t> wanted{std::span<const std::uint32_t>(targets)};
    const DeviceArray<DirectForce> forces(count);
    const double time = bench::milliseconds(
        repeats, [&] { cuda::direct_sum(gravity_, view(), wanted.data(), count, forces.data()); });
    std::vector<DirectForce> found(count);
    forces.download(found);
    std::printf("double %9zu x %9zu %11.4f ms %8.2f e9 pairs/s, bits %016llx\n", count, position_.size(),
                time, pairs_per_microsecond(count, time) * 1e-3,
                static_cast<unsigned long long>(bench::checksum(std::span<const DirectForce>(found))));
  }

 private:
  double pairs_per_microsecond(std::size_t targets, double time) const {
    return static_cast<double>(targets) * static_cast<double>(position_.size()) / time * 1e-3;
  }

  GravityParameters gravity_;
  WalkUnits units_;
  DeviceArray<Vec3d> position_;
  DeviceArray<double> mass_;
  DeviceArray<std::uint8_t> type_;
};

void run(SofteningKernel kernel, int log2_single, int log2_double, int repeats) {
  GravityParameters gravity;
  gravity.kernel = kernel;
  gravity.softening.fill(1e-3);
  for (int log2 = 10; log2 <= log2_single; ++log2) {
    const std::size_t count = std::size_t{1} << log2;
    const Model model(count, gravity);
    model.measure_single(0, count, repeats);
    if (log2 == log2_single)
      for (const std::size_t few : {1, 128, 512, 1024, 8192})
        if (few < count) model.measure_single(count / 3, few, repeats);
  }
  for (int log2 = 14; log2 <= log2_double; log2 += 2) {
    const Model model(std::size_t{1} << log2, gravity);
    for (const std::size_t few : {64, 1000, 4096}) model.measure_double(few, repeats);
  }
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  try {
    grove::cuda::select_device(0, false);
    grove::run(argc > 1 && std::string(argv[1]) == "plummer" ? grove::SofteningKernel::plummer
                                                             : grove::SofteningKernel::spline,
               argc > 2 ? std::atoi(argv[2]) : 20, argc > 3 ? std::atoi(argv[3]) : 20,
               argc > 4 ? std::atoi(argv[4]) : 5);
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}
