// The volume that stands for a group in the opening test: its tight box against the balls of GOTHIC (Miki
// and Umemura 2017, New Astron. 52, 65). Interactions, tests and errors, on the host.
//
//   bench_group_volume [LOG2_PARTICLES] [MODEL] [DELTA] [GROUPS]
//
// 2^LOG2_PARTICLES (18) particles, MODEL: plummer, hernquist, uniform; equal masses, G = M = a = 1, softening
// 1e-3 (spline), leaves of 4096, quadrupoles, criterion `acceleration` with DELTA (0.007). Prints of GROUPS
// (1024) groups at even distances: per group, cells, particles and tests; warp instructions at 34 a
// cell, 15.4 a particle and 120 per 32 tests; the 99th percentile of the errors of eight particles of each
// against direct summation. Then the same with that delta, for each volume, which gives the error of the box.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/direct/direct_sum.hpp"
#include "kernels/kokkos/runtime.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/interaction.hpp"
#include "support/distributions.hpp"
#include "support/force_errors.hpp"
#include "support/grown.hpp"

namespace grove {
namespace {

using Points = std::vector<Vec3d>;

struct Volume {
  Vec3d low, high;  ///< a ball: both the centre
  double radius = 0;

  double distance2(const Vec3d& p) const {
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double outside = std::max({low[axis] - p[axis], p[axis] - high[axis], 0.0});
      sum += outside * outside;
    }
    if (radius == 0) return sum;
    const double distance = std::max(std::sqrt(sum) - radius, 0.0);
    return distance * distance;
  }
};

const Vec3d& farthest(const Points& points, const Vec3d& from) {
  return *std::max_element(points.begin(), points.end(),
                           [&](const Vec3d& a, const Vec3d& b) { return norm2(a - from) < norm2(b - from); });
}

Volume ball_about(const Points& points, const Vec3d& centre) {
  return {centre, centre, norm(farthest(points, centre) - centre)};
}

Volume box(const Points& points) {
  Volume box{points[0], points[0]};
  for (const Vec3d& p : points)
    for (int axis = 0; axis < 3; ++axis) {
      box.low[axis] = std::min(box.low[axis], p[axis]);
      box.high[axis] = std::max(box.high[axis], p[axis]);
    }
  return box;
}

/// To some 1e-4 of its radius: steps of 1/i to the farthest point (Badoiu and Clarkson 2003, SODA, 801).
Volume smallest_ball(const Points& points) {
  Vec3d centre = points[0];
  for (int i = 2; i < 10000; ++i) centre += (farthest(points, centre) - centre) * (1.0 / i);
  return ball_about(points, centre);
}

/// Ritter 1990, Graphics Gems, 301.
Volume ritters_ball(const Points& points) {
  const Vec3d a = farthest(points, points[0]), b = farthest(points, a);
  Vec3d centre = (a + b) * 0.5;
  double radius = norm(b - a) / 2;
  for (const Vec3d& p : points) {
    const double distance = norm(p - centre);
    if (distance <= radius) continue;
    radius = (radius + distance) / 2;
    centre = p + (centre - p) * (radius / distance);
  }
  return ball_about(points, centre);
}

Volume box_centred_ball(const Points& points) {
  const Volume b = box(points);
  return ball_about(points, (b.low + b.high) * 0.5);
}

/// All masses are equal.
Volume mass_centred_ball(const Points& points) {
  Vec3d sum{0, 0, 0};
  for (const Vec3d& p : points) sum += p;
  return ball_about(points, sum * (1.0 / static_cast<double>(points.size())));
}

Volume smaller_ball(const Points& points) {
  const Volume a = box_centred_ball(points), b = mass_centred_ball(points);
  return a.radius < b.radius ? a : b;
}

struct Kind {
  const char* name;
  Volume (*of)(const Points&);
};
constexpr Kind kinds[] = {{"box", box},
                          {"smallest ball", smallest_ball},
                          {"Ritter's ball", ritters_ball},
                          {"about box centre", box_centred_ball},
                          {"about mass centre", mass_centred_ball},
                          {"smaller of these", smaller_ball}};

/// A group with its particles; everything in walk units, from the middle of the root cube.
struct Sampled {
  std::int32_t leaf;
  Group group;
  Points points;
  std::vector<double> exact;  ///< of every fourth particle, three components each
};

struct Tally {
  double cells = 0, particles = 0, tests = 0;  ///< per group
  double p99 = 0;
  double instructions() const { return 34 * cells + 15.4 * particles + 120.0 / 32 * tests; }
};

/// The trees, and walks of them in double precision.
class Model {
 public:
  static constexpr std::size_t stride = 4;  ///< of the particles of a group whose errors count

  Model(const std::string& name, std::size_t count, double delta) {
    gravity_.delta = delta;
    gravity_.softening.fill(1e-3);
    const testing::Shape shape = name == "plummer"     ? testing::Shape::plummer
                                 : name == "hernquist" ? testing::Shape::hernquist
                                 : name == "uniform"   ? testing::Shape::uniform
                                                       : throw std::runtime_error("no model " + name);
    particles_ = testing::make_shape(shape, count);
    grown_.prepare(particles_, gravity_.softening[0]);
    grown_.sort(particles_, 4096);
    grown_.build(particles_);
    grown_.moments(particles_, gravity_.first_evaluation(), 0);
    grown_.walk(particles_, gravity_.first_evaluation());
    median_ = testing::remember_accelerations(particles_);
    grown_.moments(particles_, gravity_, median_);
    for (std::int32_t leaf = 0; leaf < grown_.forest.leaves(); ++leaf)
      trees_.push_back(grown_.forest.tree(leaf));
    softening2_ = std::pow(spline_radius_over_softening * 1e-3 / units().length, 2);
  }

  std::vector<Sampled> sample(std::size_t wanted) const;
  Tally measure(const std::vector<Sampled>& groups, const std::vector<Volume>& volumes, double delta) const;

 private:
  const WalkUnits& units() const { return grown_.units; }
  Vec3d origin(std::int32_t leaf) const {
    return trees_[static_cast<std::size_t>(leaf)].origin * (1 / units().length);
  }
  void walk(const Sampled& sampled, const Volume& volume, float inverse_tolerance, Tally& tally,
            std::vector<Accumulator<double>>& sums) const;
  void walk_leaf(std::int32_t leaf, const Sampled& sampled, const Volume& volume, float inverse_tolerance,
                 Tally& tally, std::vector<Accumulator<double>>& sums) const;
  void add_node(const Vec3d& centre, const NodeCore& core, const NodeMoments& moments, const Sampled& sampled,
                std::vector<Accumulator<double>>& sums) const;
  void add_bucket(std::int32_t leaf, const NodeLinks& links, const Sampled& sampled,
                  std::vector<Accumulator<double>>& sums) const;

  GravityParameters gravity_;
  Particles particles_;
  testing::Grown grown_;
  double median_ = 0, softening2_ = 0;  ///< the latter: of the spline's radius
  std::vector<SourceTree> trees_;
};

std::vector<Sampled> Model::sample(std::size_t wanted) const {
  std::vector<Sampled> all;
  std::vector<DirectTarget> targets;
  std::size_t groups = 0, number = 0;
  for (std::int32_t leaf = 0; leaf < grown_.forest.leaves(); ++leaf)
    groups += static_cast<std::size_t>(grown_.forest.target(leaf).group_count);
  const std::size_t every = std::max<std::size_t>(1, groups / wanted);
  for (std::int32_t leaf = 0; leaf < grown_.forest.leaves(); ++leaf) {
    const TargetLeaf target = grown_.forest.target(leaf);
    const auto first = static_cast<std::size_t>(grown_.leaf_begin[static_cast<std::size_t>(leaf)]);
    for (std::int32_t g = 0; g < target.group_count; ++g) {
      if (number++ % every != 0) continue;
      Sampled sampled{leaf, target.groups[g], {}, {}};
      for (std::int32_t i = 0; i < sampled.group.count; ++i) {
        const std::int32_t p = sampled.group.first + i;
        sampled.points.push_back(origin(leaf) + target.particles[p].position.as<double>());
        const std::size_t j = first + static_cast<std::size_t>(p);
        if (static_cast<std::size_t>(i) % stride == 0)
          targets.push_back({particles_.position[j], gravity_.softening[1], particles_.id[j]});
      }
      all.push_back(sampled);
    }
  }
  const std::vector<double> softening(particles_.size(), gravity_.softening[1]);
  std::vector<DirectForce> forces(targets.size());
  direct_sum(gravity_.kernel,
             {particles_.position.data(), particles_.mass.data(), softening.data(), particles_.id.data(),
              particles_.size()},
             targets, forces);
  auto force = forces.begin();
  for (Sampled& sampled : all)
    for (std::size_t i = 0; i < sampled.points.size(); i += stride, ++force)
      for (int axis = 0; axis < 3; ++axis)
        sampled.exact.push_back(
            to_walk_acceleration(force->acceleration[axis], gravity_.gravitational_constant, units()));
  return all;
}

void Model::add_node(const Vec3d& centre, const NodeCore& core, const NodeMoments& moments,
                     const Sampled& sampled, std::vector<Accumulator<double>>& sums) const {
  const CellSource source = CellSource::of({0, 0, 0}, core.mass, moments, core.softening, moments.softening2);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const Vec3d d = centre - sampled.points[k * stride];
    if (norm2(d) < softening2_)
      add_quadrupole(Spline{}, d, source, softening2_, sums[k]);
    else
      add_quadrupole(Newton{}, d, source, softening2_, sums[k]);
  }
}

void Model::add_bucket(std::int32_t leaf, const NodeLinks& links, const Sampled& sampled,
                       std::vector<Accumulator<double>>& sums) const {
  const SourceTree& tree = trees_[static_cast<std::size_t>(leaf)];
  for (std::int32_t i = links.first; i < links.first + links.count; ++i) {
    const Vec3d place = origin(leaf) + tree.particles[i].position.as<double>();
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const std::int32_t target = sampled.group.first + static_cast<std::int32_t>(k * stride);
      if (leaf == sampled.leaf && i == target) continue;
      add_particle(Spline{}, place - sampled.points[k * stride], static_cast<double>(tree.particles[i].mass),
                   softening2_, sums[k]);
    }
  }
}

void Model::walk_leaf(std::int32_t leaf, const Sampled& sampled, const Volume& volume,
                      float inverse_tolerance, Tally& tally, std::vector<Accumulator<double>>& sums) const {
  const SourceTree& tree = trees_[static_cast<std::size_t>(leaf)];
  for (std::int32_t n = 0; n >= 0;) {
    const NodeCore& core = tree.core[n];
    const NodeLinks& links = tree.links[n];
    const Vec3d centre = origin(leaf) + core.centre.as<double>();
    ++tally.tests;
    if (accepts(core, static_cast<float>(volume.distance2(centre)), inverse_tolerance, 0)) {
      ++tally.cells;
      add_node(centre, core, tree.moments[n], sampled, sums);
      n = links.next;
    } else if (links.child >= 0) {
      n = links.child;
    } else {
      tally.particles += links.count;
      add_bucket(leaf, links, sampled, sums);
      n = links.next;
    }
  }
}

void Model::walk(const Sampled& sampled, const Volume& volume, float inverse_tolerance, Tally& tally,
                 std::vector<Accumulator<double>>& sums) const {
  const TopTree top = grown_.top.view();
  std::vector<std::int32_t> stack{0};
  while (!stack.empty()) {
    const std::int32_t n = stack.back();
    stack.pop_back();
    const TopLinks& links = top.links[n];
    if (links.child < 0) {
      walk_leaf(links.first_leaf, sampled, volume, inverse_tolerance, tally, sums);
      continue;
    }
    const Vec3d centre = top.centre[n] * (1 / units().length);
    ++tally.tests;
    if (!links.holds(sampled.leaf) &&
        accepts(top.core[n], static_cast<float>(volume.distance2(centre)), inverse_tolerance, 0)) {
      ++tally.cells;
      add_node(centre, top.core[n], top.moments[n], sampled, sums);
    } else {
      stack.push_back(links.child);
      stack.push_back(links.child + 1);
    }
  }
}

Tally Model::measure(const std::vector<Sampled>& groups, const std::vector<Volume>& volumes,
                     double delta) const {
  Tally tally;
  std::vector<double> errors;
  // To (G/(Delta |a_old|))^(2/5), of the delta that the groups were prepared with.
  const double factor = std::pow(gravity_.delta / delta, 0.4);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<Accumulator<double>> sums(groups[g].exact.size() / 3, Accumulator<double>{{0, 0, 0}, 0});
    walk(groups[g], volumes[g], static_cast<float>(factor * groups[g].group.bounds.inverse_tolerance), tally,
         sums);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const double* const e = &groups[g].exact[3 * k];
      const Vec3d exact{e[0], e[1], e[2]};
      errors.push_back(norm(sums[k].acceleration - exact) / norm(exact));
    }
  }
  std::sort(errors.begin(), errors.end());
  tally.p99 = testing::percentile(errors, 0.99);
  for (double* sum : {&tally.cells, &tally.particles, &tally.tests})
    *sum /= static_cast<double>(groups.size());
  return tally;
}

void print(const char* name, double delta, const Tally& t, const Tally& of_box) {
  std::printf(
      "%-18s delta %.5f %8.1f cells %7.1f particles %7.1f tests %8.0f instructions (%.3f)  p99 %.4f %%\n",
      name, delta, t.cells, t.particles, t.tests, t.instructions(), t.instructions() / of_box.instructions(),
      100 * t.p99);
}

void run(int log2, const std::string& name, double delta, std::size_t wanted) {
  const Model model(name, std::size_t{1} << log2, delta);
  const std::vector<Sampled> groups = model.sample(wanted);
  Tally of_box;
  for (const Kind& kind : kinds) {
    std::vector<Volume> volumes;
    for (const Sampled& sampled : groups) volumes.push_back(kind.of(sampled.points));
    const Tally tally = model.measure(groups, volumes, delta);
    if (kind.of == box) of_box = tally;
    print(kind.name, delta, tally, of_box);
    double low = delta / 4, high = 4 * delta;
    for (int i = 0; i < 12; ++i) {
      const double middle = std::sqrt(low * high);
      (model.measure(groups, volumes, middle).p99 < of_box.p99 ? low : high) = middle;
    }
    print("  at the same error", low, model.measure(groups, volumes, low), of_box);
  }
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  const grove::KokkosRuntime kokkos;
  try {
    grove::run(argc > 1 ? std::atoi(argv[1]) : 18, argc > 2 ? argv[2] : "plummer",
               argc > 3 ? std::atof(argv[3]) : 0.007,
               argc > 4 ? static_cast<std::size_t>(std::atoll(argv[4])) : 1024);
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}
