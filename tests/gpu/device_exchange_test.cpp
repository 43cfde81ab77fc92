// Exchanges from GPU to GPU, by each of the ways that work where the test runs.
#include <vector>

#include "decomposition/gpu/device_rank.hpp"
#include "support/gpu_ranks.hpp"
#include "support/whole_particles.hpp"

namespace grove {
namespace {

using test::make_particles;
using test::Shape;
using DeviceExchangeTest = testing::GpuRanks;

/// Byte b of the i-th element that goes from one rank to another.
std::byte byte_of(int from, int to, std::size_t i, std::size_t b) {
  return static_cast<std::byte>(mixed(static_cast<std::uint64_t>(1000 * from + to) + (i << 20)) >>
                                (8 * (b % 8)));
}

TEST_F(DeviceExchangeTest, brings_elements_of_any_size_in_rounds_of_any_size) {
  // From rank r to rank s: none to itself, and different numbers otherwise, sometimes none.
  const auto number = [&](int r, int s) {
    return r == s ? 0 : static_cast<std::size_t>((7 * r + 3 * s) % 5) * 40;
  };
  std::vector<Count> counts;
  for (int s = 0; s < comm_.size(); ++s) counts.push_back(static_cast<Count>(number(comm_.rank(), s)));
  const auto ways = exchanges();
  // 1 byte: one element at a time; 100: no whole number of elements of 8 or 24 bytes.
  for (const std::size_t round_bytes :
       {std::size_t{1}, std::size_t{100}, ExchangePlan::default_round_bytes}) {
    const ExchangePlan plan(comm_, counts, round_bytes);
    for (const std::size_t size : {1, 8, 24}) {
      std::vector<std::byte> send, wanted;
      for (int other = 0; other < comm_.size(); ++other) {
        for (std::size_t i = 0; i < number(comm_.rank(), other); ++i)
          for (std::size_t b = 0; b < size; ++b) send.push_back(byte_of(comm_.rank(), other, i, b));
        for (std::size_t i = 0; i < number(other, comm_.rank()); ++i)
          for (std::size_t b = 0; b < size; ++b) wanted.push_back(byte_of(other, comm_.rank(), i, b));
      }
      const cuda::DeviceArray<std::byte> device_send{std::span<const std::byte>(send)};
      for (const auto& exchange : ways) {
        const cuda::DeviceArray<std::byte> device_received(wanted.size());
        exchange->apply(plan, device_send.data(), device_received.data(), size);
        std::vector<std::byte> received(wanted.size());
        device_received.download(received);
        EXPECT_TRUE(received == wanted) << "elements of " << size << " bytes, rounds of " << round_bytes;
      }
    }
  }
}

TEST_F(DeviceExchangeTest, brings_several_arrays_at_once) {
  // Arrays of different sizes by plans of different numbers; none of the last from any rank.
  const auto bytes_of = [](std::size_t size, int from, int to, std::size_t number) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < number; ++i)
      for (std::size_t b = 0; b < size; ++b) bytes.push_back(byte_of(from, to, i + 1000 * size, b));
    return bytes;
  };
  const auto number = [](std::size_t array, int r, int s) {
    return r == s || array == 2 ? 0 : array + static_cast<std::size_t>((7 * r + 3 * s) % 5);
  };
  constexpr std::size_t sizes[] = {16, 4, 32};
  for (const auto& exchange : exchanges()) {
    std::vector<ExchangePlan> plans;
    std::vector<cuda::DeviceArray<std::byte>> sent, received;
    std::vector<std::vector<std::byte>> wanted(3);
    for (std::size_t array = 0; array < 3; ++array) {
      std::vector<Count> counts;
      std::vector<std::byte> send;
      for (int other = 0; other < comm_.size(); ++other) {
        const std::size_t to = number(array, comm_.rank(), other), from = number(array, other, comm_.rank());
        counts.push_back(static_cast<Count>(to));
        for (const std::byte b : bytes_of(sizes[array], comm_.rank(), other, to)) send.push_back(b);
        for (const std::byte b : bytes_of(sizes[array], other, comm_.rank(), from))
          wanted[array].push_back(b);
      }
      plans.emplace_back(comm_, counts);
      sent.emplace_back(std::span<const std::byte>(send));
      received.emplace_back(wanted[array].size());
    }
    std::vector<DeviceExchange::Transfer> transfers;
    for (std::size_t array = 0; array < 3; ++array)
      transfers.push_back({plans[array], sent[array].data(), received[array].data(), sizes[array]});
    exchange->apply(transfers);
    for (std::size_t array = 0; array < 3; ++array) {
      std::vector<std::byte> found(wanted[array].size());
      received[array].download(found);
      EXPECT_TRUE(found == wanted[array]) << array;
    }
  }
}

TEST_F(DeviceExchangeTest, brings_whole_particles_once) {
  constexpr std::uint64_t count = 20000;
  for (const auto& exchange : exchanges()) {
    DeviceParticles on_device(make_particles(comm_, Shape::uniform, count, true, comm_.size() > 1 ? 1 : 0));
    DecompositionParameters p;
    p.leaf_size = 64;
    DecompositionReport report;
    decompose(comm_, on_device, *exchange, p, {}, report);
    test::expect_whole_particles_once(comm_, on_device.download(), Shape::uniform, count, true);
  }
}

/// More leave a rank than are copied at once: columns go in several groups.
TEST_F(DeviceExchangeTest, brings_whole_particles_in_groups_of_columns) {
  if (comm_.size() == 1) GTEST_SKIP() << "nothing is sent";
  // All lie on rank 1, from which at least half leave: 1.5 million / 2 of 102 bytes are more than 64 MiB.
  constexpr std::uint64_t count = 1500000;
  DeviceParticles on_device(make_particles(comm_, Shape::uniform, count, true, 1));
  DecompositionReport report;
  decompose(comm_, on_device, *exchange_, {}, {}, report);
  test::expect_whole_particles_once(comm_, on_device.download(), Shape::uniform, count, true);
}

}  // namespace
}  // namespace grove
