#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/direct/direct_sum.hpp"

/// Code that benchmarks on a GPU share.
namespace grove::bench {

/// Median of so many runs after one more.
template <class Action>
double milliseconds(int repeats, const Action& action) {
  std::vector<double> times;
  for (int i = 0; i < repeats + 1; ++i) {
    cuda::device_synchronise();
    const auto start = std::chrono::steady_clock::now();
    action();
    cuda::device_synchronise();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin() + 1, times.end());
  return times[1 + static_cast<std::size_t>(repeats / 2)];
}

/// |a - a_direct| / |a_direct|.
struct Errors {
  double median, p99, largest;
};

/// Errors of up to 1024 of particles first, first + 1, ..., whose accelerations (G = 1) these are.
inline Errors errors_of(const GravityParameters& gravity, const cuda::DirectParticles& particles,
                        std::size_t first, std::span<const Vec3f> acceleration) {
  const std::size_t count = acceleration.size(), sample = std::min<std::size_t>(count, 1024);
  std::vector<std::uint32_t> targets;
  for (std::size_t k = 0; k < sample; ++k)
    targets.push_back(static_cast<std::uint32_t>(first + k * count / sample));
  const cuda::DeviceArray<std::uint32_t> wanted{std::span<const std::uint32_t>(targets)};
  const cuda::DeviceArray<DirectForce> forces(sample);
  cuda::direct_sum(gravity, particles, wanted.data(), sample, forces.data());
  std::vector<DirectForce> exact(sample);
  forces.download(exact);
  std::vector<double> errors;
  for (std::size_t k = 0; k < sample; ++k)
    errors.push_back(norm(acceleration[targets[k] - first].as<double>() - exact[k].acceleration) /
                     norm(exact[k].acceleration));
  std::sort(errors.begin(), errors.end());
  return {errors[sample / 2], errors[(sample - 1) * 99 / 100], errors[sample - 1]};
}

/// Parts of a list with commas.
inline std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) items.push_back(item);
  return items;
}

/// 800000, or 2^20.
inline std::size_t number_of(const std::string& text) {
  return text.starts_with("2^") ? std::size_t{1} << std::stoul(text.substr(2)) : std::stoul(text);
}

/// A hash of the bits (FNV-1a, by word).
template <class T>
std::uint64_t checksum(std::span<const T> values) {
  std::uint64_t sum = 0xcbf29ce484222325;
  const auto bytes = std::as_bytes(values);
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, &bytes[i], 4);
    sum = (sum ^ word) * 0x100000001b3;
  }
  return sum;
}

}  // namespace grove::bench
