#include "let/gpu/device_gravity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/errors.hpp"
#include "comm/exchange_plan.hpp"
#include "comm/radix_select.hpp"
#include "kernels/cuda/digit_counts.hpp"
#include "kernels/cuda/fields.hpp"
#include "kernels/cuda/lost_separation.hpp"
#include "kernels/cuda/particle_steps.hpp"
#include "let/resolution.hpp"

namespace grove {
namespace {

/// A leaf that no rank has sent: a walk that would open it fails.
constexpr std::uint32_t absent = ~0u;

template <class T>
cuda::DeviceArray<T> upload(std::span<const T> host) {
  return cuda::DeviceArray<T>{host};
}

/// The lower median of |a_old| over all ranks; see grove::median().
float median_of(const Communicator& comm, const DeviceParticles& particles, Count all) {
  if (all == 0) return 0;
  const DigitCounter count_digits = [&](const DigitQuestion& question) {
    std::vector<Count> counts(std::size_t{1} << (question.high - question.low));
    cuda::count_digits(particles.values(fields::old_acceleration), particles.size(),
                       {question.prefix, question.high, question.low}, counts);
    return counts;
  };
  return std::bit_cast<float>(static_cast<std::uint32_t>(select_key(comm, 32, count_digits, (all - 1) / 2)));
}

}  // namespace

WalkSetup DeviceGravity::agree_on_setup(const DeviceParticles& particles, const Domain& domain,
                                        ForceReport& report) const {
  report.particles = comm_.sum(static_cast<Count>(particles.size()));
  if (parameters_.needs_old_acceleration())
    report.median_acceleration = median_of(comm_, particles, report.particles);
  report.opening_angle = parameters_.needs_old_acceleration() && report.median_acceleration == 0;
  const double largest = comm_.max(cuda::largest_of(particles.values(fields::mass), particles.size()));
  const double softening = *std::max_element(parameters_.softening.begin(), parameters_.softening.end());
  const WalkUnits units = WalkUnits::of(domain.box.edge, softening, largest, report.particles);
  check_range([&] { return farthest_particle(comm_, particles.download()); }, parameters_, units,
              domain.box.edge, report.particles, largest > 0);
  return {report.opening_angle ? parameters_.first_evaluation() : parameters_, units};
}

void DeviceGravity::check_separations(const DeviceParticles& particles) const {
  const auto lost =
      cuda::find_lost_separation({particles.values(fields::position), particles.values(fields::mass),
                                  particles.values(fields::type), particles.values(fields::old_acceleration)},
                                 forest_.trees(), parameters_);
  if (!lost) return;
  const auto element = [](const auto* array, std::uint64_t i) {
    std::remove_cvref_t<decltype(*array)> value;
    cuda::device_download(&value, array + i, sizeof(value));
    return value;
  };
  const Vec3d* const position = particles.values(fields::position);
  const ParticleId* const id = particles.values(fields::id);
  const Vec3d first = element(position, lost->first);
  throw InputError(describe_lost_separation(element(id, lost->first), element(id, lost->second),
                                            element(position, lost->second) - first,
                                            first - element(forest_.trees().origin, lost->leaf)));
}

void DeviceGravity::publish(const Domain& domain, const WalkSetup& setup, double median_acceleration) {
  const std::vector<LeafNotice> own = forest_.notices();
  published_.notices = comm_.all_gather_arrays(std::span<const LeafNotice>(own));
  std::vector<LeafRoot> roots;
  published_.origins.clear();
  for (const LeafNotice& notice : published_.notices) {
    roots.push_back(notice.root);
    published_.origins.push_back(notice.root.origin);
  }
  published_.moments.combine(domain.cells, roots, setup.units,
                             AcceptanceRule::of(setup.gravity, setup.units, median_acceleration));
  const TopTree top = published_.moments.view();
  const auto nodes = static_cast<std::size_t>(top.nodes);
  published_.centre = upload(std::span(top.centre, nodes));
  published_.core = upload(std::span(top.core, nodes));
  published_.second = upload(std::span(top.moments, nodes));
  published_.links = upload(std::span(top.links, nodes));
}

void DeviceGravity::import(const Domain& domain, const WalkUnits& units, ForceReport& report) {
  const auto first = static_cast<std::size_t>(domain.first_leaf[static_cast<std::size_t>(comm_.rank())]);
  std::vector<cuda::SourceLeaf> table;
  for (const Vec3d& origin : published_.origins) table.push_back({origin, absent, 0});
  for (std::size_t i = 0; i < forest_.places().size(); ++i) {
    table[first + i].node = static_cast<std::uint32_t>(forest_.places()[i].node);
    table[first + i].particle = static_cast<std::uint32_t>(forest_.places()[i].first);
  }
  joint_.reset();
  if (comm_.size() > 1) {
    std::vector<TargetBounds> bounds;
    for (const LeafNotice& notice : published_.notices) bounds.push_back(notice.bounds);
    std::vector<Wanted> wanted(domain.cells.size());
    for (std::size_t c = wanted.size(); c-- > 0;) {  // children lie behind their parents
      const Cell& cell = domain.cells[c];
      const auto leaf = static_cast<std::size_t>(cell.first_leaf),
                 child = static_cast<std::size_t>(cell.child);
      wanted[c] = cell.is_leaf() ? Wanted::of_leaf(bounds[leaf], published_.origins[leaf], units.length)
                                 : Wanted::united(wanted[child], wanted[child + 1]);
    }
    const std::vector<std::uint32_t> leaf_cell(domain.leaf_cell.begin(), domain.leaf_cell.end());
    const auto device_cells = upload(std::span<const std::uint32_t>(leaf_cell));
    const auto device_wanted = upload(std::span<const Wanted>(wanted));
    const auto device_bounds = upload(std::span<const TargetBounds>(bounds));
    const auto device_origins = upload(std::span<const Vec3d>(published_.origins));
    const auto device_first = upload(std::span<const std::int32_t>(domain.first_leaf));
    const cuda::LetReceivers receivers{published_.top(),     device_cells.data(),   device_wanted.data(),
                                       device_bounds.data(), device_origins.data(), device_first.data(),
                                       comm_.size(),         comm_.rank(),          units.length};
    exchange_trees(cuda::LetSelection(forest_.trees(), receivers), table, report);
  }
  table_ = upload(std::span<const cuda::SourceLeaf>(table));
}

/// Sends what was selected and enters what comes into the table, by leaf of the ORB.
void DeviceGravity::exchange_trees(const cuda::LetSelection& selection, std::vector<cuda::SourceLeaf>& table,
                                   ForceReport& report) {
  const auto ranks = static_cast<std::size_t>(comm_.size());
  const std::int32_t first = static_cast<std::int32_t>(
      std::find_if(table.begin(), table.end(), [](const auto& leaf) { return leaf.node != absent; }) -
      table.begin());
  std::vector<Count> trees(ranks, 0), nodes(ranks, 0), particles(ranks, 0);
  std::vector<cuda::SelectedTree> sent(selection.trees().begin(), selection.trees().end());
  for (cuda::SelectedTree& tree : sent) {
    const auto rank = static_cast<std::size_t>(tree.rank);
    ++trees[rank];
    nodes[rank] += tree.nodes;
    particles[rank] += tree.particles;
    tree.leaf += first;
  }
  const ExchangePlan of_trees(comm_, trees), of_nodes(comm_, nodes), of_particles(comm_, particles);
  std::vector<cuda::SelectedTree> received(static_cast<std::size_t>(of_trees.receive_total()));
  of_trees.apply(std::span<const cuda::SelectedTree>(sent), std::span(received));

  const cuda::LetArrays packed = selection.pack();
  const cuda::LeafTrees own = forest_.trees();
  const auto exchange = [&](const ExchangePlan& plan, const auto* own_values, std::size_t own_count,
                            const auto& values, auto& joint) {
    using T = std::remove_cvref_t<decltype(*own_values)>;
    joint = cuda::DeviceArray<T>(own_count + static_cast<std::size_t>(plan.receive_total()));
    cuda::device_copy(joint.data(), own_values, own_count * sizeof(T));
    exchange_.apply(plan, values.data(), joint.data() + own_count, sizeof(T));
    report.let_bytes += plan.receive_total() * static_cast<Count>(sizeof(T));
  };
  const std::size_t own_nodes = forest_.nodes(), own_particles = forest_.particles();
  joint_.emplace();
  exchange(of_nodes, own.core, own_nodes, packed.core, joint_->core);
  exchange(of_nodes, own.moments, own_nodes, packed.moments, joint_->moments);
  exchange(of_nodes, own.links, own_nodes, packed.links, joint_->links);
  exchange(of_particles, own.sources, own_particles, packed.particles, joint_->particles);
  exchange(of_particles, own.softening, own_particles, packed.softening, joint_->softening);

  std::uint64_t node = own_nodes, particle = own_particles;
  for (const cuda::SelectedTree& tree : received) {
    cuda::SourceLeaf& leaf = table[static_cast<std::size_t>(tree.leaf)];
    leaf.node = static_cast<std::uint32_t>(node);
    leaf.particle = static_cast<std::uint32_t>(particle);
    node += static_cast<std::uint64_t>(tree.nodes);
    particle += static_cast<std::uint64_t>(tree.particles);
  }
  report.let = {of_trees.receive_total(), of_nodes.receive_total(), of_particles.receive_total()};
}

cuda::WalkSources DeviceGravity::sources() const {
  const cuda::LeafTrees own = forest_.trees();
  if (!joint_)
    return {table_.data(), own.core, own.moments, own.links, own.sources, own.softening, published_.top()};
  return {table_.data(),        joint_->core.data(),      joint_->moments.data(),
          joint_->links.data(), joint_->particles.data(), joint_->softening.data(),
          published_.top()};
}

ForceReport DeviceGravity::evaluate(DeviceParticles& particles, const Domain& domain,
                                    cuda::DeviceRecords records, PhaseTimers& timers) {
  const auto timed = [&timers](const char* phase, const auto& work) {
    const auto timer = timers.time(phase);
    work();
    cuda::device_synchronise();
  };
  ForceReport report;
  WalkSetup setup;
  timed("wait", [&] { comm_.barrier(); });  // so that no other phase counts waiting for slower ranks
  timed("moments", [&] { setup = agree_on_setup(particles, domain, report); });
  timed("build", [&] {
    if (records.size() != particles.size()) {
      records = cuda::DeviceRecords(particles.size());
      cuda::make_records(domain.box, particles.values(fields::position), particles.size(), 0, records);
    }
    comm_.together([&] { forest_.cut(particles, domain.leaf_begin, records); });
    records = {};
  });
  timed("sort", [&] { forest_.arrange(particles); });
  timed("moments", [&] {
    comm_.together([&] {
      forest_.update(particles, setup.gravity, setup.units, report.median_acceleration);
      check_separations(particles);
    });
  });
  timed("let", [&] {
    publish(domain, setup, report.median_acceleration);
    import(domain, setup.units, report);
  });
  const cuda::WalkTargets targets{forest_.trees(), forest_.leaf_of_group(), forest_.groups(),
                                  domain.first_leaf[static_cast<std::size_t>(comm_.rank())]};
  const cuda::WalkOutput output{particles.values(fields::acceleration), particles.values(fields::potential),
                                particles.values(fields::work)};
  timed("walk", [&] {
    comm_.together([&] {
      report.interactions += cuda::walk_own(setup.gravity, setup.units, sources(), targets, output);
      report.interactions += cuda::walk_others(setup.gravity, setup.units, sources(), targets, output);
    });
    cuda::store_sizes(particles.size(), particles.values(fields::acceleration),
                      particles.values(fields::old_acceleration));
  });
  joint_.reset();
  timed("wait", [&] { report.add_over_ranks(comm_); });
  return report;
}

}  // namespace grove
