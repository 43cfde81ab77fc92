#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {

/// Small arrays that cross to the device and back in one transfer each way, in memory that is kept from one
/// use to the next: what a transfer costs does not depend on its size before some 10 KB.
class Parcel {
 public:
  /// Empties it.
  void clear() { host_.clear(); }

  /// Puts an array in. Returns its place.
  template <class T>
  std::size_t add(std::span<const T> values) {
    static_assert(alignof(T) <= alignment);
    const std::size_t place = (host_.size() + alignment - 1) / alignment * alignment;
    host_.resize(place + values.size_bytes());
    if (!values.empty()) std::memcpy(host_.data() + place, values.data(), values.size_bytes());
    return place;
  }

  void send() {
    device_.reserve(host_.size());
    device_.upload(host_);
  }

  /// The array of a place, on the device.
  template <class T>
  T* at(std::size_t place) const {
    return reinterpret_cast<T*>(device_.data() + place);
  }

  /// Brings back all from a place on; get() reads it.
  void fetch(std::size_t place) {
    device_download(host_.data() + place, device_.data() + place, host_.size() - place);
  }
  template <class T>
  void get(std::size_t place, std::span<T> values) const {
    if (!values.empty()) std::memcpy(values.data(), host_.data() + place, values.size_bytes());
  }

 private:
  static constexpr std::size_t alignment = 16;
  std::vector<std::byte> host_;
  DeviceArray<std::byte> device_;
};

}  // namespace grove::cuda
