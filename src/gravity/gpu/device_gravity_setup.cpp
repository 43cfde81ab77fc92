// DeviceGravity: what the setup of a walk asks of all particles, and the pairs that its precision cannot tell
// apart.
#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/joint_reduction.hpp"
#include "comm/radix_select.hpp"
#include "gravity/gpu/device_gravity.hpp"
#include "gravity/resolution.hpp"
#include "kernels/cuda/cuts/services/digit_counts.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/cuda/trees/lost_separation.hpp"

namespace grove {

GravityStorage::Sums DeviceGravity::reduce(bool with_median, float last_median) const {
  Sums sums;
  sums.particles = static_cast<Count>(particles_.size());
  const cuda::Arriving<double> largest_mass =
      cuda::largest_of(particles_.values(fields::mass), particles_.size());
  JointReduction joint;
  joint.sum(sums.particles);
  bool has_all = false;
  const auto take_largest = [&] {
    if (std::exchange(has_all, true)) return;
    sums.largest_mass = largest_mass.get();
    joint.max(sums.largest_mass);
  };
  const DigitCounter count_digits = [&](const DigitQuestion& question) {
    std::vector<Count> counts(static_cast<std::size_t>(question.digits()));
    cuda::count_digits(particles_.values(fields::old_acceleration), particles_.size(),
                       {question.prefix, question.high, question.low, question.is_window}, counts);
    take_largest();  // the host has waited
    return counts;
  };
  if (with_median) {
    sums.median_acceleration = std::bit_cast<float>(
        rough_median_key(comm_, std::bit_cast<std::uint32_t>(last_median), count_digits, joint));
  } else {
    take_largest();
    joint.apply(comm_);
  }
  return sums;
}

std::string DeviceGravity::fault_of_separations(const GravitySetup& setup) const {
  if (!first_lost_ || first_lost_->get() == cuda::nothing_lost) return {};
  const cuda::LostPair lost =
      cuda::lost_pair_of(first_lost_->get(), particles_of_leaves(), forest_.trees(), setup.walk.gravity);
  const auto element = [](const auto* array, std::uint64_t i) {
    std::remove_cvref_t<decltype(*array)> value;
    cuda::device_download(&value, array + i, sizeof(value));
    return value;
  };
  const Vec3d* const position = particles_.values(fields::position);
  const ParticleId* const id = particles_.values(fields::id);
  const Vec3d first = element(position, lost.first);
  return describe_lost_separation(element(id, lost.first), element(id, lost.second),
                                  element(position, lost.second) - first,
                                  first - element(forest_.trees().origin, lost.leaf));
}

}  // namespace grove
