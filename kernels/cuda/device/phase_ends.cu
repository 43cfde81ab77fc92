#include "kernels/cuda/device/phase_ends.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/progress.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/staging.cuh"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {

struct PhaseEnds::Impl {
  using Clock = std::chrono::steady_clock;
  struct Left {
    std::string phase;
    Clock::time_point when;  ///< by the host
    Event done;              ///< by the GPU
  };
  std::array<Left, 4> left;
  std::size_t count = 0;
  std::uint64_t waits = 0;  ///< before the last one was left
};

PhaseEnds::PhaseEnds() : impl_(std::make_unique<Impl>()) {}
PhaseEnds::~PhaseEnds() = default;

void PhaseEnds::leave() {
  const std::string phase = progress().state().phase;
  const auto end = impl_->left.begin() + static_cast<std::ptrdiff_t>(impl_->count);
  if (std::any_of(impl_->left.begin(), end, [&](const auto& left) { return left.phase == phase; }))
    forget();  // of a step before
  if (impl_->count == impl_->left.size()) throw std::logic_error("too many phases without a wait");
  Impl::Left& left = impl_->left[impl_->count++];
  left.phase = phase;
  left.done.record(nullptr);
  left.when = Impl::Clock::now();
  impl_->waits = waits_done();
}

void PhaseEnds::settle(PhaseTimers& timers) {
  if (impl_->count == 0 || impl_->waits == waits_done()) return;
  const auto now = Impl::Clock::now();
  const Event& waited = staging().downloaded();
  double before = 0;  // that the phase before takes from this one
  for (std::size_t i = 0; i < impl_->count; ++i) {
    const Impl::Left& left = impl_->left[i];
    const double since = std::chrono::duration<double>(now - left.when).count();
    const double late = std::max(0., since - waited.seconds_since(left.done));
    timers.add(left.phase, {late - before, {}});
    before = late;
  }
  timers.add(progress().state().phase, {-before, {}});
  forget();
}

void PhaseEnds::forget() { impl_->count = 0; }

}  // namespace grove::cuda
