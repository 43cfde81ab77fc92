#include "structure/power_spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "base/errors.hpp"
#include "cosmology/linear_spectrum.hpp"
#include "particles/models/random.hpp"
#include "structure/cosmological_volume.hpp"

namespace grove {
namespace {

constexpr double pi = std::numbers::pi;

struct Set {
  std::vector<Vec3d> position;
  std::vector<double> mass;

  void add(const Vec3d& x, double m) { position.push_back(x), mass.push_back(m); }
};

std::vector<PowerBin> spectrum(const Communicator& comm, const Set& set, const PowerOptions& options) {
  return power_spectrum(comm, set.position, set.mass, options, HostPower());
}

/// This rank's share of particles without correlations, some of them outside of the box.
Set random_particles(const Communicator& comm, Count count, double box) {
  Set set;
  for (Count i = comm.rank(); i < count; i += comm.size()) {
    RandomStream random(3, static_cast<std::uint64_t>(i));
    const double x = random.uniform(), y = random.uniform(), z = random.uniform();
    set.add(Vec3d{x, y - 1, z + 2} * box, 1 + random.uniform());
  }
  return set;
}

TEST(PowerSpectrum, clouds_have_all_mass_and_its_middle) {
  for (const Assignment assignment : {Assignment::cic, Assignment::tsc})
    for (const double u : {0.0, 0.2, 0.5, 2.75, 3.999}) {
      const AxisWeights weights = axis_weights(assignment, u);
      double sum = 0, middle = 0;
      for (int i = 0; i < points_of(assignment); ++i)
        sum += weights.share[i], middle += weights.share[i] * (weights.first + i);
      EXPECT_NEAR(sum, 1, 1e-15);
      EXPECT_NEAR(middle, u, 1e-15 * 8);
    }
}

TEST(PowerSpectrum, of_a_plane_wave_is_one_mode) {
  const Communicator comm(MPI_COMM_WORLD);
  const double box = 5, amplitude = 0.1;
  const int n = 16, wave = 2, mesh = 32;
  Set set;
  for (int i = comm.rank(); i < n * n * n; i += comm.size()) {
    const Vec3d x = Vec3d{i / (n * n) + 0.3, i / n % n + 0.3, i % n + 0.3} * (box / n);
    set.add(x, 1 + amplitude * std::cos(2 * pi * wave * x.x / box));
  }
  for (const PowerBin& bin : spectrum(comm, set, {.box = box, .mesh = mesh})) {
    // Shells behind half of the mesh's frequency have the lattice's own images.
    if (bin.wavenumber > 2 * pi / box * 12) continue;
    const bool is_waves = std::abs(bin.wavenumber / (2 * pi / box) - wave) < 0.3;
    // Modes k and -k have amplitude / 2 each.
    const double expected =
        is_waves ? 2 * std::pow(amplitude / 2, 2) * std::pow(box, 3) / static_cast<double>(bin.modes) : 0;
    // Interlacing leaves the images at +-2 x 32: (2 / 64)^3 = 3e-5 of the amplitude each, 1.2e-4 of the
    // power.
    EXPECT_NEAR(bin.power, expected, is_waves ? 2e-4 * expected : 1e-8) << bin.wavenumber;
  }
}

TEST(PowerSpectrum, of_random_particles_is_shot_noise) {
  const Communicator comm(MPI_COMM_WORLD);
  const double box = 2;
  const Set set = random_particles(comm, 8000, box);
  for (const Assignment assignment : {Assignment::cic, Assignment::tsc})
    for (const bool interlaced : {false, true})
      for (const int folds : {0, 2}) {
        const auto bins = spectrum(comm, set, {box, 16, assignment, interlaced, folds});
        EXPECT_EQ(bins.size(), folds == 0 ? 7u : 3 + 2 + 6u);
        // Masses 1 to 2: sum m^2 / (sum m)^2 = (7 / 3) / (3 / 2)^2 / N, drawn to 1 % or so.
        EXPECT_NEAR(bins[0].shot_noise, 8 * 28 / 27. / 8000, 0.01 * bins[0].shot_noise);
        for (const PowerBin& bin : bins)
          EXPECT_NEAR(bin.power / bin.shot_noise, 1, 4 / std::sqrt(0.5 * static_cast<double>(bin.modes)))
              << static_cast<int>(assignment) << interlaced << folds << " " << bin.wavenumber;
      }
}

/// The mean power of the modes with numbers in [least, most), by the definition; in units of a scale's modes.
double direct_power(const Set& set, double box, int scale, double least, double most) {
  double sum = 0, total = 0;
  int modes = 0;
  for (const double m : set.mass) total += m;
  const int reach = static_cast<int>(most);
  for (int x = -reach; x <= reach; ++x)
    for (int y = -reach; y <= reach; ++y)
      for (int z = -reach; z <= reach; ++z) {
        const double size = std::sqrt(x * x + y * y + z * z);
        if (size < least || size >= most) continue;
        Complex mode = 0;
        for (std::size_t i = 0; i < set.mass.size(); ++i)
          mode += std::polar(set.mass[i],
                             -2 * pi * scale / box * dot(Vec3d{1. * x, 1. * y, 1. * z}, set.position[i]));
        sum += std::norm(mode / total);
        ++modes;
      }
  return sum / modes * std::pow(box, 3);
}

TEST(PowerSpectrum, is_that_of_sums_over_particles_with_and_without_folds) {
  const Communicator comm(MPI_COMM_WORLD), alone = comm.split(comm.rank());
  const double box = 3;
  const Set all = random_particles(alone, 100, box), mine = random_particles(comm, 100, box);
  const PowerOptions options{.box = box, .mesh = 32, .folds = 1};
  const auto bins = spectrum(comm, mine, options);
  // 1 to 7 of the whole, 4 to 15 of the half.
  ASSERT_EQ(bins.size(), 7u + 12u);
  for (const auto& [index, scale, shell] : {std::tuple(0, 1, 1), {2, 1, 3}, {7, 2, 4}, {8, 2, 5}}) {
    const double expected = direct_power(all, box, scale, shell - 0.5, shell + 0.5);
    // Images nearest to mode m that interlacing leaves are at 32 - m along two axes: (m / (32 - m))^6 = 4e-5
    // of the amplitude for m = 5 along both, from eight such images at worst.
    EXPECT_NEAR(bins[static_cast<std::size_t>(index)].power / expected, 1, 1e-3) << shell;
  }
}

TEST(PowerSpectrum, has_the_same_bits_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone = comm.split(comm.rank());
  const Set all = random_particles(alone, 500, 3), mine = random_particles(comm, 500, 3);
  for (const int mesh : {8, 11}) {
    const PowerOptions options{.box = 3, .mesh = mesh, .folds = 1};
    const auto one = spectrum(alone, all, options), many = spectrum(comm, mine, options);
    ASSERT_EQ(one.size(), many.size());
    EXPECT_EQ(std::memcmp(one.data(), many.data(), one.size() * sizeof(PowerBin)), 0);
  }
  EXPECT_THROW(spectrum(comm, {}, {}), Agreed<InputError>);
}

/// The mean of the linear spectrum over the modes of a shell.
double mean_over_shell(const LinearSpectrum& spectrum, int shell, double fundamental) {
  double sum = 0;
  int modes = 0;
  for (int x = -shell - 1; x <= shell + 1; ++x)
    for (int y = -shell - 1; y <= shell + 1; ++y)
      for (int z = -shell - 1; z <= shell + 1; ++z) {
        const double size = std::sqrt(x * x + y * y + z * z);
        if (static_cast<int>(size + 0.5) != shell) continue;
        sum += spectrum(size * fundamental);
        ++modes;
      }
  return sum / modes;
}

TEST(PowerSpectrum, of_a_generated_box_is_the_linear_one) {
  const Communicator comm(MPI_COMM_WORLD);
  CosmologicalVolume v;
  v.cosmology = {.omega_matter = 0.3, .omega_lambda = 0.7, .hubble = 0.07};
  v.noise.fixed = true;
  const double unit = 1e3 / v.spectrum.h, edge = 256;  // Mpc/h in kpc; Mpc/h
  v.sites = 16, v.box = edge * unit, v.redshift = 499;
  const Particles particles = make_particles(comm, v);
  const int mesh = 64;
  const auto bins =
      power_spectrum(comm, particles.position, particles.mass, {.box = v.box, .mesh = mesh}, HostPower());
  const LinearSpectrum spectrum(v.cosmology.omega_matter, v.spectrum);
  const double growth = power_growth(Expansion(v.cosmology), v.redshift);
  for (int shell = 1; shell <= 7; ++shell) {
    // A lattice that is displaced by psi has modes -i k psi at all images of k, so that those at k +- 2 x 64,
    // which interlacing leaves and the cloud damps by (k / 128)^3, add (k / 128)^2 each to the amplitude.
    const double images = std::pow(1 + 2 * std::pow(shell / (2. * mesh), 2), 2);
    const double expected = images * growth * mean_over_shell(spectrum, shell, 2 * pi / edge);
    // Fixed amplitudes have no variance, but the next order: the rms of the density is 0.003 at this
    // redshift. A tenth of that comes about in shells of 18 and more modes, and the images' factor varies in
    // a shell by 1 / shell.
    EXPECT_NEAR(bins[static_cast<std::size_t>(shell - 1)].power / std::pow(unit, 3) / expected, 1, 1e-3)
        << shell;
  }
}

}  // namespace
}  // namespace grove
