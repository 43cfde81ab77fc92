#include "kernels/cuda/device/phase_ends.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/staging.cuh"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {

struct PhaseEnds::Impl {
  using Clock = Staging::Clock;
  struct Left {
    std::string phase;
    Clock::time_point when;  ///< by the host
    std::uint64_t waits;     ///< of the host before that
    Event done;              ///< by the GPU
  };
  std::array<Left, 8> left;  // more than there are phases that the host leaves
  std::size_t count = 0;
};

PhaseEnds::PhaseEnds() : impl_(std::make_unique<Impl>()) {}
PhaseEnds::~PhaseEnds() = default;

void PhaseEnds::leave(std::string phase) {
  const auto end = impl_->left.begin() + static_cast<std::ptrdiff_t>(impl_->count);
  if (std::any_of(impl_->left.begin(), end, [&](const auto& left) { return left.phase == phase; }))
    impl_->count = 0;  // of a step before
  if (impl_->count == impl_->left.size()) throw std::logic_error("too many phases without a wait");
  Impl::Left& left = impl_->left[impl_->count++];
  left.phase = std::move(phase);
  left.done.record(nullptr);
  left.when = Impl::Clock::now();
  left.waits = waits_done();
}

void PhaseEnds::enter_another() {
  if (impl_->count == 0) return;
  Impl::Left& last = impl_->left[impl_->count - 1];
  if (last.waits == waits_done()) last.when = Impl::Clock::now();
}

void PhaseEnds::settle(PhaseTimers& timers, const std::string& waiting) {
  if (impl_->count == 0 || impl_->left[impl_->count - 1].waits == waits_done()) return;
  const Event& waited = staging().waited();
  for (std::size_t i = 0; i < impl_->count; ++i) {
    const Impl::Left& left = impl_->left[i];
    const bool is_last = i + 1 == impl_->count;
    if (!is_last && impl_->left[i + 1].waits != left.waits) continue;
    const double since = std::chrono::duration<double>(staging().wait_ended() - left.when).count();
    const double late = std::max(0., since - waited.seconds_since(left.done));
    timers.add(left.phase, {late, {}});
    timers.add(is_last ? waiting : impl_->left[i + 1].phase, {-late, {}});
  }
  impl_->count = 0;
}

}  // namespace grove::cuda
