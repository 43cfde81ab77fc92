// Tree forces on one GPU: time by phase, interactions, and the error against direct summation.
//
//   bench_walk_gpu LOG2_PARTICLES MODEL DELTA [ORDER] [LEAF] [REPEATS]
//
// MODEL: plummer (99.9 % of the mass), hernquist (r < 100 a), nfw (c = 15); equal masses, G = M = a = 1,
// softening 1e-3. DELTA: of the criterion `acceleration`. ORDER: quadrupole, monopole. LEAF: 4096. Prints the
// median of REPEATS (5) after one more, milliseconds, of the second pass: the first one walks with an opening
// angle.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/box.hpp"
#include "forest/top_tree.hpp"
#include "kernels/cuda/bisection.hpp"
#include "kernels/cuda/direct_sum.hpp"
#include "kernels/cuda/fields.hpp"
#include "kernels/cuda/leaf_bisection.hpp"
#include "kernels/cuda/walk.hpp"

namespace grove {
namespace {

using cuda::DeviceArray;

template <class T>
DeviceArray<T> upload(const std::vector<T>& host) {
  return DeviceArray<T>{std::span<const T>(host)};
}
template <class T>
std::vector<T> download(const DeviceArray<T>& array) {
  std::vector<T> host(array.size());
  array.download(host);
  return host;
}

/// The radius that holds this fraction of a model's mass.
double radius_of(const std::string& model, double fraction) {
  if (model == "plummer") return 1 / std::sqrt(std::pow(0.999 * fraction, -2. / 3) - 1);
  if (model == "hernquist") {
    const double root = std::sqrt(fraction) * 100 / 101;
    return root / (1 - root);
  }
  if (model != "nfw") throw std::runtime_error("no model " + model);
  const auto mass = [](double r) { return std::log1p(r) - r / (1 + r); };
  const double wanted = fraction * mass(15);
  double low = 0, high = 15;
  for (int i = 0; i < 50; ++i) (mass((low + high) / 2) < wanted ? low : high) = (low + high) / 2;
  return (low + high) / 2;
}

std::vector<Vec3d> sample(const std::string& model, std::size_t count) {
  std::mt19937_64 random(1);
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  std::vector<Vec3d> position(count);
  for (Vec3d& p : position) {
    const double r = radius_of(model, uniform()), c = 2 * uniform() - 1, s = std::sqrt(1 - c * c),
                 angle = 6.283185307179586 * uniform();
    p = {r * s * std::cos(angle), r * s * std::sin(angle), r * c};
  }
  return position;
}

/// Milliseconds by phase.
class Watch {
 public:
  void lap(const std::string& phase) {
    cuda::device_synchronise();
    const auto now = std::chrono::steady_clock::now();
    times[phase].push_back(std::chrono::duration<double, std::milli>(now - last_).count());
    last_ = now;
  }
  void start() {
    cuda::device_synchronise();
    last_ = std::chrono::steady_clock::now();
  }
  std::map<std::string, std::vector<double>> times;

 private:
  std::chrono::steady_clock::time_point last_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Bench {
 public:
  Bench(const std::string& model, std::size_t count, GravityParameters gravity, Count leaf)
      : count_(count), gravity_(gravity), leaf_(leaf) {
    std::vector<Vec3d> position = sample(model, count);
    Vec3d low = position[0], high = low;
    for (const Vec3d& p : position)
      for (int axis = 0; axis < 3; ++axis)
        low[axis] = std::min(low[axis], p[axis]), high[axis] = std::max(high[axis], p[axis]);
    box_ = Box::around(low, high);
    const double mass = 1 / static_cast<double>(count);
    units_ = WalkUnits::of(box_.edge, gravity.softening[0], mass, static_cast<Count>(count));
    position_ = upload(position);
    mass_ = upload(std::vector<double>(count, mass));
    type_ = upload(std::vector<std::uint8_t>(count, 1));
    old_ = upload(std::vector<float>(count, 0));
    std::vector<ParticleId> ids(count);
    for (std::size_t i = 0; i < count; ++i) ids[i] = i + 1;
    id_ = upload(ids);
    acceleration_ = DeviceArray<Vec3f>(count);
    potential_ = DeviceArray<float>(count);
    work_ = DeviceArray<std::uint32_t>(count);
  }

  /// Top tree cuts and local trees; particles into tree order.
  void build(Watch& watch) {
    cuda::DeviceRecords records(count_), spare(count_);
    cuda::make_records(box_, position_.data(), count_, 0, records);
    watch.lap("1 records");
    const CutScheme scheme{CutRule::middle, leaf_};
    Cell root;
    root.count = root.weight = static_cast<Count>(count_);
    root.leaves = scheme.leaves_of(root.count);
    const cuda::SubtreeRoot whole{root, 0};
    cells_ = cuda::cut_to_leaves(scheme, std::span(&whole, 1), records, spare, id_.data())[0];
    watch.lap("2 top cuts");
    lay_out(root.leaves);
    DeviceArray<std::uint32_t> order(count_);
    links_ = DeviceArray<NodeLinks>(static_cast<std::size_t>(node_begin_.back()));
    cuda::cut_leaves(leaf_begin_, node_begin_, records, id_.data(), order.data(), links_.data());
    watch.lap("3 local trees");
    reorder(position_, order);
    reorder(mass_, order);
    reorder(type_, order);
    reorder(old_, order);
    reorder(id_, order);
    watch.lap("4 reorder");
  }

  void update(const GravityParameters& gravity, double median_acceleration, Watch& watch) {
    const std::size_t leaves = places_.size();
    device_places_ = upload(places_);
    device_group_leaves_ = upload(leaf_of_group_);
    origin_ = DeviceArray<Vec3d>(leaves);
    bounds_ = DeviceArray<TargetBounds>(leaves);
    groups_ = DeviceArray<Group>(leaf_of_group_.size());
    sources_ = DeviceArray<SourceParticle>(count_);
    softening_ = DeviceArray<float>(count_);
    core_ = DeviceArray<NodeCore>(links_.size());
    moments_ = DeviceArray<NodeMoments>(links_.size());
    trees_ = {device_places_.data(), static_cast<std::uint32_t>(leaves),
              links_.data(),         origin_.data(),
              bounds_.data(),        groups_.data(),
              sources_.data(),       softening_.data(),
              core_.data(),          moments_.data()};
    cuda::update_leaves({position_.data(), mass_.data(), type_.data(), old_.data()}, gravity, units_,
                        median_acceleration, trees_);
    watch.lap("5 moments");
    make_top(AcceptanceRule::of(gravity, units_, median_acceleration));
    watch.lap("6 top moments");
  }

  WalkCounts walk(const GravityParameters& gravity, Watch& watch) {
    const cuda::WalkSources from{table_.data(),   core_.data(),      moments_.data(),   links_.data(),
                                 sources_.data(), softening_.data(), device_top_.view()};
    const cuda::WalkTargets to{trees_, device_group_leaves_.data(),
                               static_cast<std::uint32_t>(leaf_of_group_.size()), 0};
    const cuda::WalkOutput out{acceleration_.data(), potential_.data(), work_.data()};
    WalkCounts counts = cuda::walk_own(gravity, units_, from, to, out);
    watch.lap("7 walk own");
    counts += cuda::walk_others(gravity, units_, from, to, out);
    watch.lap("8 walk others");
    return counts;
  }

  /// Keeps |a| for the criterion; returns its median.
  double remember() {
    const auto a = download(acceleration_);
    std::vector<float> size(count_);
    for (std::size_t i = 0; i < count_; ++i) size[i] = static_cast<float>(norm(a[i].as<double>()));
    old_ = upload(size);
    std::nth_element(size.begin(), size.begin() + static_cast<std::ptrdiff_t>(count_ / 2), size.end());
    return size[count_ / 2];
  }

  /// Median, 99th percentile and largest of |a - a_direct| / |a_direct| of a sample.
  void audit(std::size_t sample) const {
    std::vector<std::uint32_t> targets;
    for (std::size_t k = 0; k < sample; ++k)
      targets.push_back(static_cast<std::uint32_t>(k * count_ / sample));
    const auto device_targets = upload(targets);
    const DeviceArray<DirectForce> forces(sample);
    cuda::direct_sum(gravity_, {position_.data(), mass_.data(), type_.data(), count_}, device_targets.data(),
                     sample, forces.data());
    const auto exact = download(forces);
    const auto a = download(acceleration_);
    std::vector<double> errors;
    for (std::size_t k = 0; k < sample; ++k)
      errors.push_back(norm(a[targets[k]].as<double>() - exact[k].acceleration) /
                       norm(exact[k].acceleration));
    std::sort(errors.begin(), errors.end());
    std::printf("error: median %.4f %%, 99th percentile %.4f %%, largest %.4f %%\n", 100 * errors[sample / 2],
                100 * errors[sample * 99 / 100], 100 * errors[sample - 1]);
  }

  std::size_t leaves() const { return places_.size(); }

 private:
  void lay_out(std::int32_t leaves) {
    std::vector<Count> counts(static_cast<std::size_t>(leaves));
    for (const Cell& cell : cells_)
      if (cell.is_leaf()) counts[static_cast<std::size_t>(cell.first_leaf)] = cell.count;
    leaf_begin_ = node_begin_ = {0};
    places_.clear();
    leaf_of_group_.clear();
    Count group = 0;
    for (const Count count : counts) {
      const std::int32_t nodes = local_cells(static_cast<std::int32_t>(count));
      places_.push_back({static_cast<std::uint64_t>(leaf_begin_.back()),
                         static_cast<std::uint64_t>(node_begin_.back()), static_cast<std::uint64_t>(group),
                         static_cast<std::int32_t>(count), nodes});
      leaf_begin_.push_back(leaf_begin_.back() + count);
      node_begin_.push_back(node_begin_.back() + nodes);
      group += (count + group_size - 1) / group_size;
      leaf_of_group_.resize(static_cast<std::size_t>(group), static_cast<std::uint32_t>(places_.size() - 1));
    }
  }

  template <class T>
  void reorder(DeviceArray<T>& field, const DeviceArray<std::uint32_t>& order) const {
    DeviceArray<T> ordered(count_);
    cuda::gather_elements(ordered.data(), {field.data(), count_, nullptr}, order.data(), count_, sizeof(T));
    field = std::move(ordered);
  }

  template <class T>
  std::vector<T> at_roots(const DeviceArray<T>& field) const {
    std::vector<std::uint32_t> roots;
    for (const cuda::LeafPlaces& leaf : places_) roots.push_back(static_cast<std::uint32_t>(leaf.node));
    const auto index = upload(roots);
    DeviceArray<T> found(roots.size());
    cuda::gather_elements(found.data(), {field.data(), field.size(), nullptr}, index.data(), roots.size(),
                          sizeof(T));
    return download(found);
  }

  void make_top(const AcceptanceRule& rule) {
    const auto core = at_roots(core_);
    const auto moments = at_roots(moments_);
    const auto bounds = download(bounds_);
    const auto origins = download(origin_);
    std::vector<LeafRoot> roots;
    std::vector<SourceFrame> table;
    const Vec3d middle = box_.low + Vec3d{1, 1, 1} * (box_.edge / 2);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      roots.push_back({core[i], moments[i], bounds[i].low, bounds[i].high, origins[i]});
      table.push_back(SourceFrame::at(origins[i], middle, 1 / units_.length,
                                      static_cast<std::uint32_t>(places_[i].node),
                                      static_cast<std::uint32_t>(places_[i].first)));
    }
    table_ = upload(table);
    top_.combine(cells_, roots, units_, rule);
    device_top_ = cuda::DeviceTop(top_.view(), middle, units_);
  }

  std::size_t count_;
  GravityParameters gravity_;
  Count leaf_;
  Box box_;
  WalkUnits units_;
  DeviceArray<Vec3d> position_;
  DeviceArray<double> mass_;
  DeviceArray<std::uint8_t> type_;
  DeviceArray<float> old_;
  DeviceArray<ParticleId> id_;
  DeviceArray<Vec3f> acceleration_;
  DeviceArray<float> potential_;
  DeviceArray<std::uint32_t> work_;

  std::vector<Cell> cells_;
  std::vector<Count> leaf_begin_, node_begin_;
  std::vector<cuda::LeafPlaces> places_;
  std::vector<std::uint32_t> leaf_of_group_;
  DeviceArray<NodeLinks> links_;
  DeviceArray<cuda::LeafPlaces> device_places_;
  DeviceArray<std::uint32_t> device_group_leaves_;
  DeviceArray<Vec3d> origin_;
  DeviceArray<TargetBounds> bounds_;
  DeviceArray<Group> groups_;
  DeviceArray<SourceParticle> sources_;
  DeviceArray<float> softening_;
  DeviceArray<NodeCore> core_;
  DeviceArray<NodeMoments> moments_;
  cuda::LeafTrees trees_{};
  DeviceArray<SourceFrame> table_;
  TopMoments top_;
  cuda::DeviceTop device_top_;
};

void run(int log2, const std::string& model, double delta, Order order, Count leaf, int repeats) {
  GravityParameters gravity;
  gravity.delta = delta;
  gravity.order = order;
  gravity.softening.fill(1e-3);
  const std::size_t count = std::size_t{1} << log2;
  Bench bench(model, count, gravity, leaf);
  Watch unwanted, watch;
  unwanted.start();
  bench.build(unwanted);
  bench.update(gravity.first_evaluation(), 0, unwanted);
  bench.walk(gravity.first_evaluation(), unwanted);
  const double median_acceleration = bench.remember();
  WalkCounts counts;
  for (int i = 0; i < repeats + 1; ++i) {
    Watch& now = i == 0 ? unwanted : watch;
    now.start();
    bench.build(now);
    bench.update(gravity, median_acceleration, now);
    counts = bench.walk(gravity, now);
  }
  const auto n = static_cast<double>(count);
  std::printf("%s 2^%d, delta %g, %s, leaves of %lld: ", model.c_str(), log2, delta,
              order == Order::quadrupole ? "quadrupole" : "monopole", static_cast<long long>(leaf));
  double all = 0;
  for (const auto& [phase, times] : watch.times) all += median(times);
  std::printf("%.2f ms, %.1f bytes a particle\n", all,
              static_cast<double>(cuda::device_memory_use().peak) / n);
  for (const auto& [phase, times] : watch.times)
    std::printf("  %-16s %8.3f ms\n", phase.c_str(), median(times));
  std::printf("per particle: %.1f cells, %.1f particles; per group: %.1f tests\n",
              static_cast<double>(counts.cell) / n, static_cast<double>(counts.particle) / n,
              static_cast<double>(counts.tests) / n * group_size);
  bench.audit(std::min<std::size_t>(4096, count));
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  if (argc < 4) {
    std::puts("usage: bench_walk_gpu LOG2_PARTICLES MODEL DELTA [ORDER] [LEAF] [REPEATS]");
    return 2;
  }
  try {
    grove::cuda::select_device(0, false);
    grove::run(
        std::atoi(argv[1]), argv[2], std::atof(argv[3]),
        argc > 4 && std::string(argv[4]) == "monopole" ? grove::Order::monopole : grove::Order::quadrupole,
        argc > 5 ? std::atoi(argv[5]) : 4096, argc > 6 ? std::atoi(argv[6]) : 5);
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}
