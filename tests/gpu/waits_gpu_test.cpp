// Values that reach the host without a wait of their own, and phases to which the time of waits belongs.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/activity.hpp"
#include "base/timers.hpp"
#include "kernels/cuda/device/device.hpp"
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
  for (int i = 0; i < 100; ++i) cuda::Arriving<std::uint64_t>{value.data()};
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

/// What is found out is moved from phase to phase: it adds up to what the host measures.
TEST_F(GpuWaits, belong_to_the_phases_whose_work_they_wait_for) {
  const Busy work;
  work();
  work.wait();
  PhaseTimers timers;
  cuda::PhaseEnds ends;
  {
    const auto timer = timers.time("first");
    work();
    ends.leave("first");
  }
  {
    const auto timer = timers.time("second");
    work();
    work();
    ends.leave("second");
  }
  work.wait();
  const PhaseTimers before = timers;
  ends.settle(timers, "third");
  const double taken = timers.seconds("third");
  const double first = timers.seconds("first"), second = timers.seconds("second");
  // The GPU needs twice as long for the second; the host is through in microseconds.
  EXPECT_GT(first, 5 * before.seconds("first"));
  EXPECT_GT(second, first);
  // What is moved is below a second: to the rounding of four sums.
  const double moved = first + second - before.seconds("first") - before.seconds("second");
  EXPECT_NEAR(taken, -moved, 4e-16);
}

/// In a phase that has waited itself nothing is moved to the one before.
TEST_F(GpuWaits, in_the_next_phase_leave_the_one_before_as_it_is) {
  const Busy work;
  PhaseTimers timers;
  cuda::PhaseEnds ends;
  {
    const auto timer = timers.time("first");
    work();
    ends.leave("first");
  }
  const double first = timers.seconds("first");
  {
    const auto timer = timers.time("second");
    work.wait();
    ends.leave("second");
  }
  const double second = timers.seconds("second");
  work.wait();
  ends.settle(timers, "third");
  EXPECT_EQ(timers.seconds("first"), first);
  EXPECT_GE(timers.seconds("second"), second);
  EXPECT_LE(timers.seconds("third"), 0);
}

}  // namespace
}  // namespace grove
