#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

/// Memory of the GPU that this rank uses, without the headers of CUDA. Errors: std::runtime_error that says
/// what was asked for and what the driver answered.
namespace grove::cuda {

/// GPUs that this process can use; 0 without a driver.
int device_count();

void* device_allocate(std::size_t bytes);
void device_free(void* memory) noexcept;
void device_upload(void* device, const void* host, std::size_t bytes);
void device_download(void* host, const void* device, std::size_t bytes);
/// Waits until all that was asked for is done; errors of kernels appear here at the latest.
void device_synchronise();

/// Owner of an array in device memory, uninitialised.
template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size)
      : data_(static_cast<T*>(device_allocate(size * sizeof(T)))), size_(size) {}
  explicit DeviceArray(std::span<const T> host) : DeviceArray(host.size()) { upload(host); }
  ~DeviceArray() { device_free(data_); }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// Grows, and forgets what was there.
  void reserve(std::size_t size) {
    if (size <= size_) return;
    *this = DeviceArray();
    *this = DeviceArray(size + size / 4);
  }
  /// host: at most size() elements; goes to the first ones.
  void upload(std::span<const T> host) { device_upload(data_, host.data(), host.size_bytes()); }
  void download(std::span<T> host) const { device_download(host.data(), data_, host.size_bytes()); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace grove::cuda
