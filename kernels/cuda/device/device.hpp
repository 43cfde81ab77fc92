#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// The GPU that this rank uses and its memory, without the headers of CUDA. Errors: std::runtime_error that
/// says what was asked for and what the driver answered. Transfers and waits add to
/// activity().
namespace grove::cuda {

/// GPUs that this process can use; 0 without a driver.
int device_count();

struct DeviceInfo {
  std::string name;               ///< as the vendor calls it
  std::string pci;                ///< its address on the bus of the host
  std::array<char, 16> identity;  ///< of this GPU, or part of one, and of no other anywhere
};
/// The description of GPU 0 .. device_count() - 1.
DeviceInfo device_info(int device);
/// All that follows runs on this GPU. Freed memory stays with the process, which will need it again and need
/// not wait for it; on a shared GPU only a little, since another process may need it.
void select_device(int device, bool is_shared);
/// The one that was selected last; nothing: none yet.
std::optional<int> selected_device();

/// While it lives, errors of device_allocate() say that the memory was wanted for this many particles and how
/// many would fit. The one made last counts; after its end the one before.
class MemoryPurpose {
 public:
  /// what: "particles", "trees", ...; bytes_per_particle: of device memory, at most, in all.
  MemoryPurpose(const char* what, std::size_t particles, double bytes_per_particle);
  ~MemoryPurpose();
  MemoryPurpose(const MemoryPurpose&) = delete;
  MemoryPurpose& operator=(const MemoryPurpose&) = delete;

  struct Text {
    const char* what = nullptr;
    double particles = 0, bytes_per_particle = 0;
  };

 private:
  Text before_;
};

/// Memory that is there for all that comes next in the stream, and may be freed while what came before uses
/// it. bytes: as it was asked for. Small blocks are kept for the next that are asked for.
void* device_allocate(std::size_t bytes);
void device_free(void* memory, std::size_t bytes) noexcept;
/// Up to 1 MiB without a wait for the GPU: what its streams are asked for next finds the bytes there. Others,
/// such as MPI, need device_synchronise() first.
void device_upload(void* device, const void* host, std::size_t bytes);
/// Waits for all that was asked for, but in the background.
void device_download(void* host, const void* device, std::size_t bytes);
/// The same of several arrays, with one wait.
struct Download {
  void* host;
  const void* device;
  std::size_t bytes;
};
void device_download(std::span<const Download> arrays);
/// How often device_download(), device_synchronise() and ArrivingBytes::get() have waited.
std::uint64_t waits_done();

/// Bytes on their way to the host, as they are in device memory when all that was asked for before is done.
/// The next wait of the host brings them.
class ArrivingBytes {
 public:
  static constexpr std::size_t most = 1024;
  /// bytes: at most so many.
  ArrivingBytes(const void* device, std::size_t bytes);
  ~ArrivingBytes();
  ArrivingBytes(ArrivingBytes&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), made_(other.made_) {}
  ArrivingBytes& operator=(ArrivingBytes&&) = delete;

  /// Waits, if the host has not waited since this was made.
  const void* get() const;

 private:
  void* memory_;
  std::uint64_t made_;  ///< behind so many waits
};
template <class T>
class Arriving {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= ArrivingBytes::most);

 public:
  explicit Arriving(const T* device) : bytes_(device, sizeof(T)) {}
  const T& get() const { return *static_cast<const T*>(bytes_.get()); }

 private:
  ArrivingBytes bytes_;
};

void device_copy(void* to, const void* from, std::size_t bytes);
/// From host or device to host or device.
void copy_any(void* to, const void* from, std::size_t bytes);
/// Rows of `width` bytes that lie `pitch` bytes apart, in memory of the host or of the device, to the device,
/// one behind the other.
void gather_rows(void* device, const void* from, std::size_t pitch, std::size_t width, std::size_t rows);
void device_clear(void* memory, std::size_t bytes);
/// Waits until all that was asked for is done; errors of kernels appear here at the latest.
void device_synchronise();
/// Bytes of what device_allocate() has made, with small blocks that are kept (32 MiB at most), and the most
/// since the last call of reset_peak_device_memory(), SpareMemory not counted.
struct DeviceMemoryUse {
  std::uint64_t now, peak;
};
DeviceMemoryUse device_memory_use();
void reset_peak_device_memory();

/// While one is there what is allocated does not count in the peak: for those who take memory that is free
/// and do without it where there is none.
class SpareMemory {
 public:
  SpareMemory();
  ~SpareMemory();
  SpareMemory(const SpareMemory&) = delete;
  SpareMemory& operator=(const SpareMemory&) = delete;

 private:
  std::uint64_t peak_;  ///< when it was made
};

/// Device memory that does not come from a pool: some libraries of communication take no other. Its making
/// and its end wait for the device.
class PlainDeviceMemory {
 public:
  PlainDeviceMemory() = default;
  explicit PlainDeviceMemory(std::size_t bytes);
  ~PlainDeviceMemory();
  PlainDeviceMemory(PlainDeviceMemory&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  PlainDeviceMemory& operator=(PlainDeviceMemory&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  void* data() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

/// Makes a host array one that the GPU reads and writes directly, as long as this lives.
class Pinned {
 public:
  Pinned() = default;
  Pinned(void* memory, std::size_t bytes);
  ~Pinned();
  Pinned(Pinned&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  Pinned& operator=(Pinned&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }

 private:
  void* memory_ = nullptr;
};

/// Owner of an array in device memory, uninitialised.
template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size)
      : data_(static_cast<T*>(device_allocate(size * sizeof(T)))), size_(size) {}
  explicit DeviceArray(std::span<const T> host) : DeviceArray(host.size()) { upload(host); }
  ~DeviceArray() { device_free(data_, size_ * sizeof(T)); }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  /// Frees what was here at once; the other array is empty then.
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    DeviceArray moved(std::move(other));
    std::swap(data_, moved.data_);
    std::swap(size_, moved.size_);
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
  /// All bytes 0.
  void clear() { device_clear(data_, size_ * sizeof(T)); }
  /// host: at most size() elements; goes to the first ones.
  void upload(std::span<const T> host) { device_upload(data_, host.data(), host.size_bytes()); }
  void download(std::span<T> host) const { device_download(host.data(), data_, host.size_bytes()); }
  /// To be made with others: of the first elements.
  Download download_to(std::span<T> host) const { return {host.data(), data_, host.size_bytes()}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Arrays of the host that go to the GPU in one copy.
class JointUpload {
 public:
  /// Returns where the array is to be: for at(), after go(). array: may change from then on.
  template <class T>
  std::size_t add(std::span<const T> array) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignment);
    const std::size_t begin = (host_.size() + alignment - 1) / alignment * alignment;
    host_.resize(begin + array.size_bytes());
    if (!array.empty()) std::memcpy(host_.data() + begin, array.data(), array.size_bytes());
    return begin;
  }
  void go() {
    device_ = DeviceArray<std::byte>{std::span<const std::byte>(host_)};
    host_ = {};
  }
  template <class T>
  const T* at(std::size_t begin) const {
    return reinterpret_cast<const T*>(device_.data() + begin);
  }

 private:
  static constexpr std::size_t alignment = 16;
  std::vector<std::byte> host_;
  DeviceArray<std::byte> device_;
};

}  // namespace grove::cuda
