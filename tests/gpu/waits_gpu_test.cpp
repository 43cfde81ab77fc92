// Values that reach the host without a wait of their own, and phases to which the time of waits belongs.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/activity.hpp"
#include "base/timers.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/freed_blocks.cuh"
#include "kernels/cuda/device/phase_ends.hpp"
#include "support/device_records.hpp"

namespace grove {
namespace {

using GpuWaits = testing::GpuTest;

std::uint64_t waits_of(const Activity& before) { return (activity() - before).host_waits; }

TEST_F(GpuWaits, bring_values_as_they_were_when_they_were_asked_for) {
  const std::uint64_t first = 1, second = 2;
  cuda::DeviceArray<std::uint64_t> value(1);
  value.upload(std::span(&first, 1));
  const cuda::Arriving<std::uint64_t> arriving(value.data());
  value.upload(std::span(&second, 1));
  const Activity before = activity();
  EXPECT_EQ(arriving.get(), first);
  EXPECT_EQ(arriving.get(), first);
  EXPECT_EQ(waits_of(before), 1u) << "nothing else had waited";
}

TEST_F(GpuWaits, of_others_bring_values_too) {
  const std::uint64_t number = 7;
  cuda::DeviceArray<std::uint64_t> value(1);
  value.upload(std::span(&number, 1));
  const cuda::Arriving<std::uint64_t> arriving(value.data());
  std::uint64_t copy = 0;
  value.download(std::span(&copy, 1));
  const Activity before = activity();
  EXPECT_EQ(arriving.get(), number);
  EXPECT_EQ(waits_of(before), 0u);
}

TEST_F(GpuWaits, are_not_needed_by_as_many_values_as_one_likes_one_after_the_other) {
  const cuda::DeviceArray<std::uint64_t> value(1);
  const Activity before = activity();
  for (int i = 0; i < 100; ++i) cuda::Arriving<std::uint64_t>{value.data()};
  EXPECT_EQ(waits_of(before), 0u);
  EXPECT_EQ((activity() - before).transfers, 100u);
}

TEST_F(GpuWaits, are_not_needed_for_arrays_that_go_in_one_copy) {
  std::vector<std::uint8_t> bytes(5);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  const std::vector<double> none, numbers{0.5, 0.25};
  cuda::JointUpload upload;
  const std::size_t of_bytes = upload.add(std::span<const std::uint8_t>(bytes)),
                    of_none = upload.add(std::span<const double>(none)),
                    of_numbers = upload.add(std::span<const double>(numbers));
  EXPECT_EQ(of_numbers % alignof(double), 0u);
  EXPECT_LE(of_none, of_numbers);
  const Activity before = activity();
  upload.go();
  EXPECT_EQ(waits_of(before), 0u);
  EXPECT_EQ((activity() - before).transfers, 1u);
  std::vector<std::uint8_t> bytes_there(bytes.size());
  std::vector<double> numbers_there(numbers.size());
  cuda::device_download(bytes_there.data(), upload.at<std::uint8_t>(of_bytes), bytes.size());
  cuda::device_download(numbers_there.data(), upload.at<double>(of_numbers), 2 * sizeof(double));
  EXPECT_EQ(bytes_there, bytes);
  EXPECT_EQ(numbers_there, numbers);
}

/// Gives the GPU some milliseconds of work.
class Busy {
 public:
  /// The first time takes the host longer.
  Busy() {
    (*this)();
    wait();
  }
  void operator()() const {
    for (int i = 0; i < 20; ++i) cuda::device_copy(to_.data(), from_.data(), from_.size());
  }
  void wait() const {
    std::byte last{};
    cuda::device_download(&last, to_.data(), 1);
  }

 private:
  static constexpr std::size_t bytes = std::size_t{1} << 28;
  cuda::DeviceArray<std::byte> from_{bytes}, to_{bytes};
};

/// A phase that the host leaves before the GPU is done with its work.
void pass(PhaseTimers& timers, cuda::PhaseEnds& ends, const Busy& work, const std::string& phase) {
  const auto timer = timers.time(phase);
  work();
  ends.leave(phase);
}

/// The waiting phase gives exactly as much time as the others get.
TEST_F(GpuWaits, belong_to_the_phases_whose_work_they_wait_for) {
  const Busy work;
  PhaseTimers timers;
  cuda::PhaseEnds ends;
  pass(timers, ends, work, "first");
  pass(timers, ends, work, "second");
  work.wait();
  const PhaseTimers before = timers;
  ends.settle(timers, "third");
  const auto gained = [&](const char* phase) { return timers.seconds(phase) - before.seconds(phase); };
  EXPECT_GT(gained("first"), 0);
  EXPECT_GT(gained("first") + gained("second"), gained("first"));
  // Each sum stays below a second, so its rounding stays below 1.1e-16; there are seven.
  EXPECT_NEAR(gained("first") + gained("second"), -timers.seconds("third"), 8e-16);
}

/// A wait in the next phase has already shown the end of the one before, which gains nothing then.
TEST_F(GpuWaits, in_the_next_phase_leave_the_one_before_as_it_is) {
  const Busy work;
  PhaseTimers timers;
  cuda::PhaseEnds ends;
  pass(timers, ends, work, "first");
  const double first = timers.seconds("first");
  work.wait();
  pass(timers, ends, work, "second");
  const double second = timers.seconds("second");
  work.wait();
  ends.settle(timers, "third");
  EXPECT_EQ(timers.seconds("first"), first);
  EXPECT_GT(timers.seconds("second"), second);
  EXPECT_LT(timers.seconds("third"), 0);
}

/// The GPU works while the host is in no phase: that time belongs to none.
TEST_F(GpuWaits, of_a_phase_that_begins_later_leave_the_one_before_as_it_is) {
  const Busy work;
  PhaseTimers timers;
  cuda::PhaseEnds ends;
  pass(timers, ends, work, "first");
  const double first = timers.seconds("first");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the GPU takes a few
  ends.enter_another();
  work.wait();
  ends.settle(timers, "second");
  EXPECT_EQ(timers.seconds("first"), first);
  EXPECT_EQ(timers.seconds("second"), 0);
}

TEST(FreedBlocks, come_back_to_who_asks_for_their_size) {
  using cuda::FreedBlocks;
  EXPECT_EQ(FreedBlocks::size_of(1), 512u);
  EXPECT_EQ(FreedBlocks::size_of(512), 512u);
  EXPECT_EQ(FreedBlocks::size_of(513), 1024u);
  EXPECT_EQ(FreedBlocks::size_of(262144), 262144u);
  EXPECT_TRUE(FreedBlocks::are_for(262144));
  EXPECT_FALSE(FreedBlocks::are_for(262145) || FreedBlocks::are_for(0));

  FreedBlocks blocks;
  std::vector<int> memory(66);
  EXPECT_EQ(blocks.take(100), nullptr);
  EXPECT_TRUE(blocks.keep(&memory[0], 100));
  EXPECT_EQ(blocks.take(513), nullptr);
  EXPECT_EQ(blocks.take(512), &memory[0]);
  EXPECT_EQ(blocks.take(512), nullptr);
  std::size_t kept = 0, released = 0;
  for (int& one : memory) kept += blocks.keep(&one, 262144) ? 1 : 0;
  EXPECT_LT(kept, memory.size()) << "there are enough";
  blocks.release([&](void*) { ++released; });
  EXPECT_EQ(released, kept);
}

}  // namespace
}  // namespace grove
