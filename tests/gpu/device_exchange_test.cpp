// What travels from GPU to GPU, by each of the ways that work where the test runs.
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

TEST_F(DeviceExchangeTest, brings_whole_particles_once) {
  constexpr std::uint64_t count = 20000;
  for (const auto& exchange : exchanges()) {
    DeviceParticles on_device(make_particles(comm_, Shape::uniform, count, true, comm_.size() > 1 ? 1 : 0));
    DecompositionParameters p;
    p.leaf_size = 64;
    DecompositionReport report;
    decompose(comm_, on_device, *exchange, p, std::nullopt, report);
    test::expect_whole_particles_once(comm_, on_device.download(), Shape::uniform, count, true);
  }
}

}  // namespace
}  // namespace grove
