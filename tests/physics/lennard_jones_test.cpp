// An interaction that users may write themselves (docs/walks.md): molecules in a periodic box.
#include "support/lennard_jones.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "decomposition/decompose.hpp"
#include "forest/forest.hpp"
#include "neighbours/neighbours.hpp"
#include "support/particle_sets.hpp"

namespace grove {
namespace {

constexpr int sites = 12;         // along each edge
constexpr double spacing = 1.15;  // of the lattice they begin on: a liquid of density 0.66
constexpr double box = sites * spacing, cut = 2.5;

/// Masses are 1. Speeds are those of a temperature near 1.
class Molecules {
 public:
  explicit Molecules(const Communicator& comm) : comm_(comm) {
    constexpr std::uint64_t count = sites * sites * sites;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (static_cast<int>(mixed(i) % static_cast<std::uint64_t>(comm.size())) != comm.rank()) continue;
      const std::size_t at = particles_.size();
      particles_.resize(at + 1);
      test::set_particle(particles_, at, test::Shape::uniform, i, false);
      const auto site = [&](std::uint64_t n) { return spacing * (static_cast<double>(n % sites) + 0.5); };
      particles_.position[at] = {site(i), site(i / sites), site(i / (sites * sites))};
      // In pairs of opposite speeds, so that their sum is 0.
      const Vec3d u = test::place(test::Shape::uniform, i / 2);
      particles_.velocity[at] = (i % 2 == 0 ? 3.4 : -3.4) * (u - Vec3d{0.5, 0.5, 0.5});
    }
    DecompositionReport report;
    domain_ = decompose(comm, particles_, {}, {}, report);
    forest_.build(particles_, domain_.box, domain_.leaf_begin);
    force_.resize(particles_.size());
    energy_.resize(particles_.size());
    find_forces();
  }

  void step(double dt) {
    for (std::size_t i = 0; i < particles_.size(); ++i) {
      particles_.velocity[i] += 0.5 * dt * force_[i];
      particles_.position[i] += dt * particles_.velocity[i];
    }
    find_forces();
    for (std::size_t i = 0; i < particles_.size(); ++i) particles_.velocity[i] += 0.5 * dt * force_[i];
  }

  /// Sums over all molecules; the hash does not depend on the ranks.
  struct Totals {
    double kinetic = 0, potential = 0;
    Vec3d momentum{0, 0, 0};
    std::uint64_t hash = 0;
  };
  Totals totals() const {
    Totals own;
    for (std::size_t i = 0; i < particles_.size(); ++i) {
      own.kinetic += 0.5 * norm2(particles_.velocity[i]);
      own.potential += energy_[i];
      own.momentum += particles_.velocity[i];
      std::uint64_t hash = particles_.id[i];
      for (const Vec3d* v : {&particles_.position[i], &particles_.velocity[i]})
        for (const double x : {v->x, v->y, v->z}) hash = mixed(hash ^ std::bit_cast<std::uint64_t>(x));
      own.hash += hash;
    }
    own.hash = comm_.sum(own.hash);
    std::vector<double> sums{own.kinetic, own.potential, own.momentum.x, own.momentum.y, own.momentum.z};
    const std::vector<double> all = comm_.all_gather_arrays(
        std::span<const double>(sums), std::span<const Count>(std::vector<Count>(ranks(), 5)));
    sums.assign(5, 0);
    for (std::size_t k = 0; k < all.size(); ++k) sums[k % 5] += all[k];
    return {sums[0], sums[1], {sums[2], sums[3], sums[4]}, own.hash};
  }

 private:
  std::size_t ranks() const { return static_cast<std::size_t>(comm_.size()); }
  void find_forces() {
    Neighbours neighbours(comm_, domain_, forest_.shapes(), Images{box});
    neighbours.search(particles_.position, Array<double>(particles_.size(), cut), NeighbourSearch::gather);
    neighbours.walk(test::LennardJones{cut, force_.data(), energy_.data()});
  }

  const Communicator& comm_;
  Particles particles_;
  Domain domain_;
  Forest forest_;
  Array<Vec3d> force_;
  Array<double> energy_;
};

TEST(LennardJones, conserves_energy_and_momentum_with_the_same_bits_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  Molecules molecules(comm), on_one(alone);
  const auto begin = molecules.totals();
  constexpr int steps = 40;
  double largest_change = 0, largest_exchange = 0;
  for (int i = 0; i < steps; ++i) {
    molecules.step(0.002);
    on_one.step(0.002);
    const auto now = molecules.totals();
    largest_change =
        std::max(largest_change, std::abs(now.kinetic + now.potential - begin.kinetic - begin.potential));
    largest_exchange = std::max(largest_exchange, std::abs(now.kinetic - begin.kinetic));
  }
  const auto end = molecules.totals(), end_on_one = on_one.totals();
  EXPECT_EQ(end.hash, end_on_one.hash);
  EXPECT_GT(largest_exchange, 0.1 * begin.kinetic) << "the lattice melts";
  // A leapfrog errs by (omega dt)^2 / 24 or so of what oscillates, at most the kinetic energy. Repelling
  // molecules that meet at r = 0.9 with these speeds have omega^2 = U'' = 4 (156 r^-14 - 42 r^-8) = 2300.
  EXPECT_LT(largest_change, 2300 * 0.002 * 0.002 / 24 * begin.kinetic);
  // Both forces of a pair are equal to the bit. Sums of some 50 of them are rounded by 2^-53 of their terms,
  // which are 2000 at most, in each of the steps, at random.
  const double rounding = 0x1p-53 * 2000 * 0.002 * std::sqrt(50.0 * steps * sites * sites * sites);
  EXPECT_LT(norm(end.momentum), 3 * rounding);
}

TEST(LennardJones, is_what_the_documentation_shows) {
  const auto text_of = [](const std::string& name) {
    std::ifstream file(GROVE_SOURCE_DIR + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string code = text_of("/tests/support/lennard_jones.hpp"), page = text_of("/docs/walks.md");
  const std::size_t begin = code.find("/// Molecules"), end = code.find("};\n\n}") + 3;
  ASSERT_NE(begin, std::string::npos);
  EXPECT_NE(page.find(code.substr(begin, end - begin)), std::string::npos);
}

}  // namespace
}  // namespace grove
