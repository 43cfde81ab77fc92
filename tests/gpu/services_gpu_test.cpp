// Every service on the GPU against the same service on the host, on the cells of a tree of random cuts: down
// to 65536 cells, many of them with 0, 1 or 2 particles.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "decomposition/services/all.hpp"
#include "kernels/cuda/cuts/services/resident_cells.hpp"
#include "support/bisection_samples.hpp"
#include "support/device_records.hpp"

namespace grove {
namespace {

using namespace testing;

auto order(const GatheredKey& k) { return std::tuple(k.input, k.key, k.weight.count, k.weight.weight); }

/// The same records on both sides, divided alike.
class BothSides {
 public:
  BothSides(const Sample& sample, bool weighted) : random_(sample.records.size()) {
    particles_.resize(sample.records.size());
    Count weight = 0;
    for (std::size_t i = 0; i < sample.id.size(); ++i) {
      particles_.id[i] = sample.id[i];
      particles_.work[i] = weighted ? 1 + static_cast<std::uint32_t>(random_() % 1000) : 0;
      weight += weighted ? particles_.work[i] : 1;
    }
    own_.records.assign(sample.records.begin(), sample.records.end());
    if (weighted) own_.weight = particles_.work.data();
    own_.make_root(weight);
    std::vector<std::int32_t> nothing(1);
    services::Init::run(own_, {}, nothing);
    ids_ = cuda::DeviceArray<ParticleId>{std::span<const ParticleId>(particles_.id)};
    work_ = cuda::DeviceArray<std::uint32_t>{std::span<const std::uint32_t>(particles_.work)};
    device_ = std::make_unique<cuda::ResidentCells>(
        on_device(sample.records), ids_.data(), weighted ? work_.data() : nullptr, particles_.size(), weight);
  }

  /// Asks everything of all cells of a level, divides them and goes on with their children: the last
  /// questions are about 2^(levels - 1) cells.
  void descend(int levels) {
    std::vector<std::int32_t> level = {0};
    for (int l = 0; l < levels; ++l) {
      const std::vector<int> axes = expect_same_middles(level);
      expect_same_counts(level);
      expect_same_keys(level);
      level = divide(level, axes);
      expect_same_cells(level);
    }
    EXPECT_EQ(device_->greatest_id(), *std::max_element(particles_.id.begin(), particles_.id.end()));
    expect_same_records(level);
  }

 private:
  std::vector<int> expect_same_middles(const std::vector<std::int32_t>& cells) {
    std::vector<AxisChoice> choices;
    std::vector<int> axes;
    for (const std::int32_t cell : cells) {
      axes.push_back(static_cast<int>(random_() % 3));
      const auto shift = static_cast<std::int32_t>(random_() % 10) - 1;  // -1: no bins
      choices.push_back({cell, axes.back(), key(cell, axes.back()), shift});
    }
    const std::size_t size = services::MakeAxis::answer_size(choices);
    std::vector<Count> host(size), device(size);
    services::MakeAxis::run(own_, choices, host);
    device_->make_axis(choices, device);
    EXPECT_TRUE(host == device);
    return axes;
  }

  /// Few and many candidates, in one call.
  void expect_same_counts(const std::vector<std::int32_t>& cells) {
    std::vector<CandidateCuts> cuts;
    std::vector<TiedCuts> ties;
    for (const std::int32_t cell : cells) {
      const std::int32_t numbers[] = {1, 2, 5, 16, 200, 255};
      const std::int32_t number = numbers[random_() % (cells.size() > 1000 ? 4 : 6)];
      const Coordinate step = 1u << (random_() % 24);  // 255 steps reach no further than 2^32
      const Coordinate last = step * static_cast<Coordinate>(number);
      const Coordinate first = std::min<Coordinate>(any_key(cell), ~last);
      cuts.push_back({cell, first, step, number, static_cast<std::int32_t>(random_() % 2)});
      ties.push_back({any_id() / 2, 1 + any_id() / 40, cell, any_key(cell), 1 + number % 40, 0});
    }
    expect_same_tallies<services::CountLeft>(
        cuts, [&](std::span<Tally> answer) { device_->count_left(cuts, answer); });
    expect_same_tallies<services::SelectTie>(
        ties, [&](std::span<Tally> answer) { device_->select_tie(ties, answer); });
  }

  template <class S, class Question, class Device>
  void expect_same_tallies(const std::vector<Question>& questions, const Device& on_gpu) {
    const std::size_t size = S::answer_size(questions);
    std::vector<Tally> host(size, Tally{0, 0}), device(size, Tally{0, 0});
    S::run(own_, questions, host);
    on_gpu(std::span<Tally>(device));
    EXPECT_TRUE(host == device) << S::name;
  }

  void expect_same_keys(const std::vector<std::int32_t>& cells) {
    std::vector<KeyInterval> intervals;
    for (const std::int32_t cell : cells) {
      const Coordinate a = any_key(cell), b = any_key(cell);
      intervals.push_back({cell, std::min(a, b), std::max(a, b), static_cast<std::int32_t>(random_() % 2)});
    }
    std::vector<GatheredKey> host, device = device_->gather_keys(intervals);
    services::GatherKeys::run(own_, intervals, host);
    ASSERT_EQ(host.size(), device.size());
    const auto less = [](const auto& p, const auto& q) { return order(p) < order(q); };
    std::sort(host.begin(), host.end(), less);
    std::sort(device.begin(), device.end(), less);
    EXPECT_TRUE(std::equal(host.begin(), host.end(), device.begin(),
                           [](const auto& p, const auto& q) { return order(p) == order(q); }));
  }

  /// At one of the cell's particles, at its coordinate, or somewhere; with or without ids.
  std::vector<std::int32_t> divide(const std::vector<std::int32_t>& cells, const std::vector<int>& axes) {
    std::vector<CellDivision> divisions;
    std::vector<std::int32_t> children;
    auto child = static_cast<std::int32_t>(own_.begin.size());
    for (std::size_t i = 0; i < cells.size(); ++i, child += 2) {
      Cut cut{random_() % 2 ? any_id() : 0, any_key(cells[i]), axes[i]};
      divisions.push_back({cut, cells[i], child});
      children.insert(children.end(), {child, child + 1});
    }
    std::vector<DivisionResult> host(cells.size()), device(cells.size());
    services::Partition::run(own_, divisions, host);
    device_->partition(divisions, device);
    for (std::size_t i = 0; i < cells.size(); ++i) expect_same(host[i], device[i], i);
    return children;
  }

  static void expect_same(const DivisionResult& host, const DivisionResult& device, std::size_t i) {
    EXPECT_EQ(host.first_right, device.first_right) << i;
    EXPECT_TRUE(host.left == device.left) << i;
    EXPECT_TRUE(host.left_bounds == device.left_bounds) << i;
    EXPECT_TRUE(host.right_bounds == device.right_bounds) << i;
  }

  void expect_same_cells(const std::vector<std::int32_t>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Tally host{static_cast<Count>(own_.records_of(cells[i]).size()),
                       own_.cell_weight[static_cast<std::size_t>(cells[i])]};
      EXPECT_TRUE(device_->tally(cells[i]) == host) << i;
    }
  }

  /// Inside a cell the host's order is arbitrary.
  void expect_same_records(const std::vector<std::int32_t>& cells) {
    std::vector<std::uint64_t> first;
    for (const std::int32_t cell : cells) first.push_back(device_->first(cell));
    std::vector<Record> device = on_host(device_->take().records);
    const auto less = [](const Record& a, const Record& b) { return a.index < b.index; };
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto host = own_.records_of(cells[i]);
      const auto mine = std::span(device).subspan(first[i], host.size());
      std::sort(host.begin(), host.end(), less);
      std::sort(mine.begin(), mine.end(), less);
      ASSERT_TRUE(std::equal(host.begin(), host.end(), mine.begin())) << i;
    }
  }

  Coordinate key(std::int32_t cell, int axis) {
    const auto records = own_.records_of(cell);
    if (records.empty() || random_() % 8 == 0) return static_cast<Coordinate>(random_());
    return records[random_() % records.size()][axis];
  }
  Coordinate any_key(std::int32_t cell) {
    const auto axis = own_.axis_of(cell);
    if (axis.empty() || random_() % 8 == 0) return static_cast<Coordinate>(random_());
    return axis[random_() % axis.size()];
  }
  ParticleId any_id() { return particles_.id[random_() % particles_.size()]; }

  std::mt19937_64 random_;
  Particles particles_;
  RankParticles own_{particles_};
  cuda::DeviceArray<ParticleId> ids_;
  cuda::DeviceArray<std::uint32_t> work_;
  std::unique_ptr<cuda::ResidentCells> device_;
};

using GpuServices = GpuTest;

TEST_F(GpuServices, answer_as_on_the_host_for_inputs_of_all_kinds) {
  for (const std::size_t count : {1u, 2u, 3u, 31u, 1000u, 70000u})
    for (const Sample& sample : samples(count))
      for (const bool weighted : {false, true}) {
        SCOPED_TRACE(sample.name + ", " + std::to_string(count) + (weighted ? ", weighted" : ""));
        BothSides(sample, weighted).descend(6);
      }
}

TEST_F(GpuServices, answer_as_on_the_host_for_65536_cells) {
  for (const bool weighted : {false, true}) BothSides(samples(100000)[1], weighted).descend(17);
}

}  // namespace
}  // namespace grove
