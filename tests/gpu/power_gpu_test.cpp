// Power spectra on GPUs beside the host. Ranks share GPUs if there are fewer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "io/file.hpp"
#include "kernels/cuda/device/available_memory.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/fourier/mesh_deposit.hpp"
#include "kernels/math/uniform_point.hpp"
#include "structure/gpu/device_power.hpp"
#include "support/gpu_ranks.hpp"
#include "support/particles.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

using testing::grove;

struct Set {
  std::vector<Vec3d> position;
  std::vector<double> mass;
};

/// Every `of`-th of `count` particles: half of them in a clump, some outside of the box.
Set some_particles(int first, int of, int count, double box) {
  Set set;
  for (int i = first; i < count; i += of) {
    const Vec3d a = uniform_point(7, static_cast<std::uint64_t>(i));
    const Vec3d u = i % 2 == 0 ? a : Vec3d{0.3, 0.98, 0.5} + 0.05 * a;
    set.position.push_back(Vec3d{u.x, u.y - 1, u.z + 2} * box);
    set.mass.push_back(1 + a.y);
  }
  return set;
}

class PowerOnGpu : public testing::GpuRanks {
 protected:
  static constexpr double box_ = 3;
  static constexpr int count_ = 20000;
  int users() const { return devices_.shared ? comm_.size() : 1; }
  DevicePower on_gpus(int users) const { return {users, *exchange_}; }
  Set mine() const { return some_particles(comm_.rank(), comm_.size(), count_, box_); }
  static std::vector<ShellTotals> totals(const PowerEstimator& estimator, const Communicator& comm,
                                         const Set& set, const PowerMesh& mesh) {
    return estimator.totals(comm, set.position, set.mass, mesh);
  }
  static bool same(const std::vector<ShellTotals>& a, const std::vector<ShellTotals>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(ShellTotals)) == 0;
  }
  /// As many users as leave each of them so many bytes.
  static int users_of(double bytes) {
    return static_cast<int>(static_cast<double>(cuda::available_device_memory()) / bytes);
  }
};

TEST_F(PowerOnGpu, masses_on_a_mesh_are_those_of_the_host) {
  const Set all = some_particles(0, 1, count_, box_);
  std::vector<MassPoint> points;
  double total = 0;
  for (std::size_t i = 0; i < all.mass.size(); ++i)
    points.push_back({all.position[i], all.mass[i]}), total += all.mass[i];
  const cuda::DeviceArray<MassPoint> on_device{std::span<const MassPoint>(points)};
  for (const Assignment assignment : {Assignment::cic, Assignment::tsc})
    for (const double offset : PowerMesh::offsets)
      for (const MeshPlanes planes : {MeshPlanes{12, 0, 12}, {15, 4, 6}, {16, 15, 16}}) {
        const MassMesh mesh{assignment, box_, 2, total};
        const auto n = static_cast<std::size_t>(planes.points);
        std::vector<std::int64_t> expected(static_cast<std::size_t>(planes.last - planes.first) * n * n),
            actual(expected.size());
        for (const MassPoint& point : points)
          spread_mass(mesh, offset, mesh.exponent(), planes, point,
                      [&](std::size_t i, std::int64_t share) { expected[i] += share; });
        cuda::DeviceArray<std::int64_t> sums(expected.size());
        sums.clear();
        cuda::deposit_mass(on_device.data(), points.size(), mesh, offset, planes, sums.data());
        sums.download(actual);
        // A share is a product of four numbers; two of the three weights have a product in them that may be
        // fused with a sum or not, and each is then rounded to an integer.
        for (std::size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(static_cast<double>(actual[i] - expected[i]), 0,
                      8 * 0x1p-53 * static_cast<double>(expected[i]) + 1. * count_)
              << i;
      }
}

TEST_F(PowerOnGpu, shells_are_those_of_the_host) {
  for (const int points : {16, 27, 64})
    for (const Assignment assignment : {Assignment::cic, Assignment::tsc})
      for (const bool interlaced : {false, true}) {
        SCOPED_TRACE(fmt::format("{} points, {}", points, interlaced));
        const MassMesh mass{assignment, box_, 2, 1.5 * count_};
        const PowerMesh mesh{mass, points, interlaced, 1, (points + 1) / 2};
        const auto on_host = totals(HostPower(), comm_, mine(), mesh),
                   on_gpu = totals(on_gpus(users()), comm_, mine(), mesh);
        ASSERT_EQ(on_gpu.size(), on_host.size());
        for (std::size_t i = 0; i < on_host.size(); ++i) {
          EXPECT_EQ(on_gpu[i].modes, on_host[i].modes);
          EXPECT_EQ(on_gpu[i].wavenumber.value(), on_host[i].wavenumber.value());
          // A product of three factors and one division.
          EXPECT_NEAR(on_gpu[i].noise.value() / on_host[i].noise.value(), 1, 8 * 0x1p-53);
          // A transform of n^3 points adds errors of 2^-53 in each of its 3 log2(n) <= 18 rounds, of the size
          // of all its modes together; those of a shell are not a hundred times smaller than the others.
          EXPECT_NEAR(on_gpu[i].power.value() / on_host[i].power.value(), 1, 2 * 100 * 18 * 0x1p-53);
        }
      }
}

TEST_F(PowerOnGpu, shells_have_the_same_bits_on_any_number_of_ranks_and_with_any_memory) {
  const Communicator alone = comm_.split(comm_.rank());
  for (const int points : {4, 8, 15, 128}) {  // seven ranks have none of 4 planes, or one
    SCOPED_TRACE(points);
    const PowerMesh mesh{{Assignment::tsc, box_, 1, 1.5 * count_}, points, true, 1, (points + 1) / 2};
    const auto expected = totals(on_gpus(users()), alone, some_particles(0, 1, count_, box_), mesh);
    for (const auto& exchange : exchanges())
      EXPECT_TRUE(same(totals(DevicePower(users(), *exchange), comm_, mine(), mesh), expected))
          << static_cast<int>(exchange->path());
  }
  // A plane of sums of both meshes takes 0.26 MB, and 45 MB must be there beside them.
  const PowerMesh mesh{{Assignment::tsc, box_, 1, 1.5 * count_}, 128, true, 1, 64};
  const auto expected = totals(on_gpus(users()), alone, some_particles(0, 1, count_, box_), mesh);
  const int few = users_of(60e6);
  EXPECT_TRUE(same(totals(on_gpus(few), alone, some_particles(0, 1, count_, box_), mesh), expected))
      << "in several blocks, and through the host";
  EXPECT_TRUE(same(totals(on_gpus(few), comm_, mine(), mesh), expected));
}

TEST_F(PowerOnGpu, without_memory_the_host_measures) {
  const PowerMesh mesh{{Assignment::tsc, box_, 1, 1.5 * count_}, 32, true, 1, 16};
  EXPECT_TRUE(
      same(totals(on_gpus(users_of(1e6)), comm_, mine(), mesh), totals(HostPower(), comm_, mine(), mesh)));
}

TEST_F(PowerOnGpu, spare_memory_does_not_raise_the_peak) {
  const PowerMesh mesh{{Assignment::tsc, box_, 1, 1.5 * count_}, 128, true, 1, 64};
  cuda::reset_peak_device_memory();
  const std::uint64_t before = cuda::device_memory_use().peak;
  totals(on_gpus(users()), comm_, mine(), mesh);
  const auto after = cuda::device_memory_use();
  EXPECT_EQ(after.peak, std::max(before, after.now));
}

TEST_F(PowerOnGpu, of_runs_is_that_of_their_snapshots) {
  const testing::TestFolder folder(comm_, "power-gpu");
  comm_.together([&] {
    if (comm_.is_master())
      write_text(folder / "box.yml",
                 "initial_conditions: {model: cosmological-box, sites: 8, box_size: 50 Mpc}\n"
                 "cosmology: {preset: planck2018}\nbox: {periodic: true}\n"
                 "gravity: {softening: 1 Mpc}\n"
                 "time: {begin: z=9, end: z=8, step_ln_a: 0.05}\n"
                 "output: {folder: " +
                     folder / "box" + ", times: ['z=8'], render: false, power: true}\n");
  });
  grove(comm_, {"run", "--quiet", "--backend", "cuda", "--share-gpu", folder / "box.yml"});
  const auto words_of = [&](const std::string& file) {
    comm_.barrier();
    std::ifstream csv(file);
    std::stringstream text;
    text << csv.rdbuf();
    std::vector<double> all;
    std::string line;
    for (std::getline(text, line); std::getline(text, line, ',');) {
      all.push_back(std::stod(line));
      for (int column = 1; column < 5; ++column)
        std::getline(text, line, column < 4 ? ',' : '\n'), all.push_back(std::stod(line));
    }
    return all;
  };
  const auto of_run = words_of(folder / "box/snapshot_000_power.csv");
  ASSERT_EQ(of_run.size(), 7 * 5u);
  for (const char* backend : {"kokkos", "cuda"}) {
    std::vector<std::string> words{
        "power", folder / "box/snapshot_000.hdf5", "-o", folder / "again.csv", "--overwrite", "--backend",
        backend};
    if (words.back() == "cuda") words.emplace_back("--share-gpu");
    grove(comm_, words);
    const auto of_file = words_of(folder / "again.csv");
    ASSERT_EQ(of_file.size(), of_run.size());
    // Snapshots have lengths in units with h, whose rounding shows in the ninth digit at most.
    for (std::size_t i = 0; i < of_run.size(); ++i) {
      if (i % 5 == 4) continue;
      EXPECT_NEAR(of_file[i], of_run[i], 2e-9 * of_run[i]) << i << backend;
    }
  }
}

}  // namespace
}  // namespace grove
