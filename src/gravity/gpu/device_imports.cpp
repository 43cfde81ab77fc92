// DeviceGravity's exchange with other ranks: notices of their leaves, and their trees as far as they are
// walked here.
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "comm/exchange_plan.hpp"
#include "gravity/gpu/device_gravity.hpp"
#include "gravity/gpu/gathered.hpp"
#include "kernels/cuda/let/leaf_lists.hpp"
#include "kernels/cuda/let/let_fields.hpp"

namespace grove {
namespace {

/// The point that all frames refer to.
Vec3d middle_of(const Box& box) { return box.low + Vec3d{1, 1, 1} * (box.edge / 2); }

/// Trees, nodes and particles that each rank is sent.
std::array<std::vector<Count>, 3> sent_by_rank(std::span<const cuda::SelectedTree> sent, std::size_t ranks) {
  const std::vector<Count> none(ranks, 0);
  std::array counts = {none, none, none};
  auto& [trees, nodes, particles] = counts;
  for (const cuda::SelectedTree& tree : sent) {
    const auto to = static_cast<std::size_t>(tree.rank);
    ++trees[to];
    nodes[to] += tree.nodes;
    particles[to] += tree.particles;
  }
  return counts;
}

std::vector<Count> leaves_by_rank(const Domain& domain) {
  std::vector<Count> leaves;
  for (std::size_t rank = 0; rank + 1 < domain.first_leaf.size(); ++rank)
    leaves.push_back(domain.first_leaf[rank + 1] - domain.first_leaf[rank]);
  return leaves;
}

/// Enters where trees are whose nodes and particles come one after the other, from these on.
void place_trees(std::span<const cuda::SelectedTree> trees, std::size_t node, std::size_t particle,
                 std::vector<cuda::LeafPlace>& places) {
  for (const cuda::SelectedTree& tree : trees) {
    places[static_cast<std::size_t>(tree.leaf)] = {static_cast<std::uint32_t>(node),
                                                   static_cast<std::uint32_t>(particle)};
    node += static_cast<std::size_t>(tree.nodes);
    particle += static_cast<std::size_t>(tree.particles);
  }
}

}  // namespace

/// Gathers the notices of all leaves on every rank, and makes the moments of the cells above them.
void DeviceGravity::publish(const GravitySetup& setup, const Domain& domain, Selections,
                            PhaseTimers& timers) {
  const auto timer = timers.time("let");
  notices_ = forest_.notices();
  if (comm_.size() > 1)
    notices_ = gathered(comm_, exchange_, notices_.data(), std::span<const Count>(leaves_by_rank(domain)));
  if (has_new_cells_) top_ = cuda::DeviceTop(domain.cells, codes_, parameters_.images);
  has_new_cells_ = false;
  const WalkSetup& walk = setup.walk;
  top_.combine(notices_.data(), walk.units,
               AcceptanceRule::of(walk.gravity, walk.units, setup.median_acceleration),
               middle_of(domain.box));
}

/// Sends what is selected for other ranks, and enters where the trees of other ranks have come to.
GravityStorage::Imported DeviceGravity::exchange_trees(const Domain& domain,
                                                       const cuda::LetSelection& selection) {
  Imported imported;
  const auto rank = static_cast<std::size_t>(comm_.rank());
  const auto& selected = selection.trees();
  std::vector<cuda::SelectedTree> sent(selected.begin(), selected.end());
  for (cuda::SelectedTree& tree : sent) tree.leaf += domain.first_leaf[rank];
  const std::vector<ExchangePlan> plans =
      ExchangePlan::several(comm_, sent_by_rank(sent, static_cast<std::size_t>(comm_.size())));
  const ExchangePlan &of_trees = plans[0], &of_nodes = plans[1], &of_particles = plans[2];
  std::vector<cuda::SelectedTree> received(static_cast<std::size_t>(of_trees.receive_total()));
  of_trees.apply(std::span<const cuda::SelectedTree>(sent), std::span(received));

  const cuda::LetArrays packed = selection.pack(parameters_);
  const cuda::LeafTrees own = forest_.trees();
  const std::size_t own_nodes = forest_.nodes(), own_particles = forest_.particles();
  const std::size_t roots = own_nodes + static_cast<std::size_t>(of_nodes.receive_total());
  joint_.emplace(parameters_, roots + places_.size(),
                 own_particles + static_cast<std::size_t>(of_particles.receive_total()));
  std::vector<DeviceExchange::Transfer> transfers;
  const auto exchange = [&](const ExchangePlan& plan, std::size_t own_count, const auto* own_values,
                            const auto* sent_values, auto* joint) {
    cuda::device_copy(joint, own_values, own_count * sizeof(*joint));
    transfers.push_back({plan, sent_values, joint + own_count, sizeof(*joint)});
    imported.bytes += plan.receive_total() * static_cast<Count>(sizeof(*joint));
  };
  const auto exchange_field = [&](const ExchangePlan& plan, std::size_t own_count, auto field) {
    if (field.is_there(parameters_))
      exchange(plan, own_count, own.*field.member, packed.trees().*field.member,
               joint_->trees().*field.member);
  };
  exchange(of_nodes, own_nodes, own.links, packed.links(), joint_->links());
  cuda::let_fields::OfNodes::for_each(
      [&](auto field, std::size_t) { exchange_field(of_nodes, own_nodes, field); });
  cuda::let_fields::OfParticles::for_each(
      [&](auto field, std::size_t) { exchange_field(of_particles, own_particles, field); });
  exchange_.apply(transfers);
  cuda::place_roots(notices_.data(), places_.size(), joint_->trees().core + roots,
                    joint_->trees().moments + roots, joint_->links() + roots,
                    joint_->trees().node_boxes ? joint_->trees().node_boxes + roots : nullptr);

  const auto begin = static_cast<std::size_t>(domain.first_leaf[rank]),
             end = static_cast<std::size_t>(domain.first_leaf[rank + 1]);
  for (std::size_t leaf = 0; leaf < places_.size(); ++leaf)
    if (leaf < begin || leaf >= end) places_[leaf] = {static_cast<std::uint32_t>(roots + leaf), 0};
  place_trees(received, own_nodes, own_particles, places_);
  imported.counts = {of_trees.receive_total(), of_nodes.receive_total(), of_particles.receive_total()};
  return imported;
}

void DeviceGravity::make_frames(const GravitySetup& setup, const Domain& domain) {
  const cuda::DeviceArray<cuda::LeafPlace> device_places{std::span<const cuda::LeafPlace>(places_)};
  cuda::make_frames(notices_.data(), device_places.data(), places_.size(), middle_of(domain.box),
                    setup.walk.units, frames_.data(), parameters_.images);
}

void DeviceGravity::select(const GravitySetup& setup, const Domain& domain) {
  const auto first = static_cast<std::size_t>(first_leaf(domain));
  places_.assign(static_cast<std::size_t>(domain.leaves()), {});
  for (std::size_t i = 0; i < forest_.places().size(); ++i)
    places_[first + i] = {static_cast<std::uint32_t>(forest_.places()[i].node),
                          static_cast<std::uint32_t>(forest_.places()[i].first)};
  frames_ =
      cuda::DeviceArray<SourceFrame>(places_.size() * static_cast<std::size_t>(parameters_.images.count()));
  make_frames(setup, domain);
  if (comm_.size() == 1) return;
  const cuda::DeviceArray<std::int32_t> first_leaf{std::span<const std::int32_t>(domain.first_leaf)};
  const cuda::LetReceivers receivers{top_.cells(),      notices_.data(), frames_.data(),
                                     first_leaf.data(), comm_.rank(),    setup.walk.units.length,
                                     parameters_.images};
  selection_.emplace(forest_.trees(), forest_.largest_tree(), receivers);
}

GravityStorage::Imported DeviceGravity::import(const GravitySetup& setup, const Domain& domain) {
  Imported imported;
  if (selection_) {
    imported = exchange_trees(domain, *selection_);
    selection_.reset();
    make_frames(setup, domain);
  }
  urgent_->wait();
  urgent_.reset();
  return imported;
}

}  // namespace grove
