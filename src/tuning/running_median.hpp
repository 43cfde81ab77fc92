#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace grove {

/// The median of the last values by weight: half of the weight is on values that are not above it. Values
/// that are far off do not count more than others.
class RunningMedian {
 public:
  /// Values that are kept.
  static constexpr std::size_t window = 31;

  void add(double value, double weight = 1) { samples_[added_++ % window] = {value, weight}; }
  std::size_t size() const { return std::min(added_, window); }

  /// The median of at least one value. Cost: sorts them.
  double median() const {
    std::array<Sample, window> sorted = samples_;
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(size());
    std::sort(sorted.begin(), end, [](const Sample& a, const Sample& b) { return a.value < b.value; });
    double all = 0, up_to = 0;
    for (auto sample = sorted.begin(); sample != end; ++sample) all += sample->weight;
    auto sample = sorted.begin();
    while ((up_to += sample->weight) < 0.5 * all) ++sample;
    return sample->value;
  }

 private:
  struct Sample {
    double value, weight;
  };
  std::array<Sample, window> samples_{};
  std::size_t added_ = 0;
};

}  // namespace grove
