// The walk through neighbours on the device of this Kokkos (the host where it has none) finds what it finds
// on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "comm/communicator.hpp"
#include "kernels/kokkos/neighbour_ropes.hpp"
#include "kernels/math/gas_visitors.hpp"
#include "neighbours/neighbours.hpp"
#include "support/device_views.hpp"
#include "support/neighbour_clouds.hpp"

namespace grove {
namespace {

using test::Cloud;
using test::copy;
using test::Device;
using test::DeviceView;
using test::fetch;
using test::Shared;
using test::uniform;

constexpr std::uint32_t count = 3000;

/// A cloud, its tree on the host, and a copy of that on the device.
class Searched {
 public:
  Searched(Cloud cloud, NeighbourSearch kind, double period)
      : comm_(MPI_COMM_SELF),
        shared_(comm_, cloud, count),
        neighbours_(comm_, shared_.domain, shared_.forest.shapes(), Images{period}) {
    Array<double> reach(count);
    for (std::uint32_t i = 0; i < count; ++i)
      reach[i] = id()[i] % 7 == 0 ? -1 : 0.03 + 0.06 * uniform(31 * id()[i] + 5);  // a seventh takes no part
    neighbours_.search(shared_.particles.position, reach, kind);
    const NeighbourTree tree = neighbours_.tree();
    nodes_ = copy(std::vector<NeighbourNode>(tree.nodes, tree.nodes + tree.node_count));
    position_ = copy(std::vector<Vec3d>(tree.position, tree.position + count));
    reach_ = copy(std::vector<double>(tree.reach, tree.reach + count));
  }

  const Array<ParticleId>& id() const { return shared_.particles.id; }
  double reach(std::uint32_t i) const { return neighbours_.tree().reach[i]; }

  template <class Visitor>
  void walk_on_host(const Visitor& visitor) const {
    neighbours_.walk_singly(visitor);
  }
  template <class Visitor>
  void walk_on_device(const Visitor& visitor) const {
    NeighbourTree tree = neighbours_.tree();
    tree.nodes = nodes_.data(), tree.position = position_.data(), tree.reach = reach_.data();
    walk_neighbours_on(Device(), tree, count, visitor);
  }

 private:
  Communicator comm_;
  Shared shared_;
  Neighbours neighbours_;
  DeviceView<NeighbourNode> nodes_;
  DeviceView<Vec3d> position_;
  DeviceView<double> reach_;
};

/// The neighbours of a target, in their order.
struct Chain {
  struct Sum {
    std::uint64_t number = 0, chain = 0;
    friend bool operator==(const Sum&, const Sum&) = default;
  };
  const ParticleId* id;
  Sum* sums;

  GROVE_HOST_DEVICE void particle(Sum& sum, const NeighbourPair& pair) const {
    ++sum.number;
    sum.chain = mixed(sum.chain + id[pair.source]);
  }
  GROVE_HOST_DEVICE void finish(std::uint32_t i, const Sum& sum) const { sums[i] = sum; }
};

/// Their number, where nodes that are within the target's radius as a whole are not looked into.
struct CountByNodes {
  struct Sum {
    std::uint64_t number = 0, nodes = 0;
  };
  const Vec3d* position;
  const double* reach;
  Sum* sums;

  GROVE_HOST_DEVICE bool accepts(const Sum&, std::uint32_t i, const NeighbourNode& node) const {
    double farthest2 = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double farthest = std::abs(position[i][axis] - node.centre[axis]) + node.half[axis];
      farthest2 += farthest * farthest;
    }
    return node.count > 0 && farthest2 < 0.999 * reach[i] * reach[i];
  }
  GROVE_HOST_DEVICE void node(Sum& sum, std::uint32_t i, const NeighbourNode& node) const {
    ++sum.nodes;
    for (std::uint32_t j = node.first; j < node.first + node.count; ++j)
      sum.number += j != i && reach[j] >= 0 ? 1 : 0;
  }
  GROVE_HOST_DEVICE void particle(Sum& sum, const NeighbourPair&) const { ++sum.number; }
  GROVE_HOST_DEVICE void finish(std::uint32_t i, const Sum& sum) const { sums[i] = sum; }
};

struct Variant {
  Cloud cloud;
  NeighbourSearch kind;
  double period;
};

class DeviceNeighbours : public testing::TestWithParam<Variant> {};

TEST_P(DeviceNeighbours, setsAndTheirOrderAreTheHosts) {
  const Searched searched(GetParam().cloud, GetParam().kind, GetParam().period);
  std::vector<Chain::Sum> sums(count);
  searched.walk_on_host(Chain{searched.id().data(), sums.data()});
  const auto id = copy(searched.id());
  const auto found = copy(std::vector<Chain::Sum>(count));
  searched.walk_on_device(Chain{id.data(), found.data()});
  EXPECT_EQ(fetch(found), sums);
  std::uint64_t number = 0;
  for (const Chain::Sum& sum : sums) number += sum.number;
  EXPECT_GT(number, count);
}

INSTANTIATE_TEST_SUITE_P(Clouds, DeviceNeighbours,
                         testing::Values(Variant{Cloud::random, NeighbourSearch::gather, 0},
                                         Variant{Cloud::random, NeighbourSearch::symmetric, 1},
                                         Variant{Cloud::clustered, NeighbourSearch::symmetric, 0},
                                         Variant{Cloud::coincident, NeighbourSearch::gather, 1},
                                         Variant{Cloud::lattice, NeighbourSearch::symmetric, 1}));

TEST(DeviceNeighbours, nodesAreTakenAsAWhole) {
  const Searched searched(Cloud::coincident, NeighbourSearch::gather, 0);
  std::vector<Chain::Sum> sums(count);
  searched.walk_on_host(Chain{searched.id().data(), sums.data()});
  std::vector<Vec3d> place;
  std::vector<double> radius;
  for (std::uint32_t i = 0; i < count; ++i) {
    place.push_back(test::place_in(Cloud::coincident, searched.id()[i]));
    radius.push_back(searched.reach(i));
  }
  const auto position = copy(place);
  const auto reach = copy(radius);
  const auto found = copy(std::vector<CountByNodes::Sum>(count));
  searched.walk_on_device(CountByNodes{position.data(), reach.data(), found.data()});
  const std::vector<CountByNodes::Sum> by_nodes = fetch(found);
  std::uint64_t nodes = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    EXPECT_EQ(by_nodes[i].number, sums[i].number) << i;
    nodes += by_nodes[i].nodes;
  }
  EXPECT_GT(nodes, 0U);
}

/// Speeds within the unit cube, pressure terms and densities from 1 to 2, sound speeds and Balsara's factors
/// below 1.
std::vector<GasSource> some_gas(const Searched& searched) {
  std::vector<GasSource> gas;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t n = searched.id()[i];
    const double H = searched.reach(i) > 0 ? searched.reach(i) : 1;
    gas.push_back({test::place(test::Shape::uniform, n + count), 1.0 / count, 1 + uniform(11 * n),
                   1 + uniform(13 * n), uniform(17 * n), uniform(19 * n), 1 / H});
  }
  return gas;
}

/// At least the sizes of the terms of a target's acceleration, in all, for some_gas(): the terms of pressure
/// are at most 2 (|W_i'| + |W_j'|) m, that of viscosity v_sig |w| / 2 (|W_i'| + |W_j'|) / 2 m with v_sig
/// below 2 + 3 sqrt(3); in all 5.2. W' is largest at H / 4.
struct AddSizes {
  struct Sum {
    double size = 0;
    std::uint64_t number = 0;
  };
  const GasSource* sources;
  Sum* sums;

  double steepest(std::uint32_t i) const {
    const double per_h = sources[i].per_support;
    return -kernel_slope(SmoothingKernel::wendland_c2, 0.25 / per_h, per_h);
  }
  void particle(Sum& sum, const NeighbourPair& pair) const {
    sum.size += 5.2 * sources[pair.source].mass * (steepest(pair.target) + steepest(pair.source));
    ++sum.number;
  }
  void finish(std::uint32_t i, const Sum& sum) const { sums[i] = sum; }
};

// A term is made by some 50 operations, and a sum by as many as there are terms; a compiler may fuse products
// with sums or not. The rate of u has a factor below sqrt(3) / 2 beside the acceleration.
TEST(DeviceNeighbours, ratesOfGasAreTheHosts) {
  const Searched searched(Cloud::random, NeighbourSearch::symmetric, 1);
  const std::vector<GasSource> gas = some_gas(searched);
  const std::vector<std::uint8_t> is_wanted(count, 1);
  std::vector<GasRates> rates(count);
  std::vector<AddSizes::Sum> sizes(count);
  searched.walk_on_host(FindRates{{}, 0, is_wanted.data(), gas.data(), rates.data()});
  searched.walk_on_host(AddSizes{gas.data(), sizes.data()});
  const auto wanted = copy(is_wanted);
  const auto sources = copy(gas);
  const auto found = copy(std::vector<GasRates>(count));
  searched.walk_on_device(FindRates{{}, 0, wanted.data(), sources.data(), found.data()});
  const std::vector<GasRates> on_device = fetch(found);
  double largest = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double bound = static_cast<double>(50 + sizes[i].number) * 0x1p-52 * sizes[i].size;
    EXPECT_LE(norm(on_device[i].acceleration - rates[i].acceleration), bound) << i;
    EXPECT_LE(std::abs(on_device[i].heating - rates[i].heating), bound) << i;
    EXPECT_NEAR(on_device[i].signal_speed, rates[i].signal_speed, 16 * 0x1p-52 * (2 + 3 * std::sqrt(3))) << i;
    largest = std::max(largest, norm(rates[i].acceleration));
  }
  EXPECT_GT(largest, 0);
}

}  // namespace
}  // namespace grove
