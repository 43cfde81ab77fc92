#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace grove {

/// A bijection of 64-bit words whose output looks random: the finaliser of SplitMix64 (Steele, Lea, Flood
/// 2014, "Fast splittable pseudorandom number generators", variant 13 of Stafford).
GROVE_HOST_DEVICE constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace grove
