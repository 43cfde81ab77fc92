#include "kernels/cuda/device/device.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "base/activity.hpp"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/freed_blocks.cuh"
#include "kernels/cuda/device/host_wait.cuh"
#include "kernels/cuda/device/staging.cuh"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string("GPU: ") + cudaGetErrorString(status) + " (" + call + ")");
}

void launched(const char* kernel, std::uint64_t device_bytes, unsigned kernels) {
  check(cudaGetLastError(), kernel);
  activity().launches += kernels;
  activity().device_bytes += device_bytes;
}

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

DeviceInfo device_info(int device) {
  cudaDeviceProp properties;
  GROVE_CUDA(cudaGetDeviceProperties(&properties, device));
  char pci[32];
  GROVE_CUDA(cudaDeviceGetPCIBusId(pci, sizeof(pci), device));
  DeviceInfo info{properties.name, pci, {}};
  static_assert(sizeof(properties.uuid) == sizeof(info.identity));
  std::memcpy(info.identity.data(), &properties.uuid, sizeof(info.identity));
  return info;
}

namespace {

cudaMemPool_t memory_pool() {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  GROVE_CUDA(cudaGetDevice(&device));
  GROVE_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  return pool;
}

}  // namespace

namespace {

std::optional<int> selected;
FreedBlocks freed;  ///< in the memory of the selected GPU

/// True unless work goes on in the background, which has an order of its own.
bool is_in_order() { return !is_in_background(); }

void release_freed() {
  freed.release([](void* memory) { cudaFreeAsync(memory, stream()); });
}

}  // namespace

void select_device(int device, bool is_shared) {
  if (selected && *selected != device) release_freed();
  GROVE_CUDA(cudaSetDevice(device));
  selected = device;
  constexpr std::uint64_t little = std::uint64_t{256} << 20, all = ~std::uint64_t{0};
  std::uint64_t kept = is_shared ? little : all;
  GROVE_CUDA(cudaMemPoolSetAttribute(memory_pool(), cudaMemPoolAttrReleaseThreshold, &kept));
}

std::optional<int> selected_device() { return selected; }

namespace {

/// The text of the MemoryPurpose that was made last.
MemoryPurpose::Text purpose;

std::string out_of_memory(std::size_t bytes, cudaError_t status) {
  std::size_t free = 0, all = 0;
  cudaMemGetInfo(&free, &all);
  const std::uint64_t used = device_memory_use().now;
  const auto mebibytes = [](std::uint64_t amount) { return std::to_string(amount >> 20) + " MiB"; };
  const auto whole = [](double number) { return std::to_string(static_cast<std::uint64_t>(number)); };
  std::string text = "GPU: out of memory";
  if (purpose.what)
    text += std::string(" for ") + purpose.what + " of " + whole(purpose.particles) + " particles";
  text += ": " + mebibytes(bytes) + " more were asked for; of its " + mebibytes(all) + " this rank uses " +
          mebibytes(used) + ", " + mebibytes(free) + " belong to nobody (" + cudaGetErrorString(status) + ")";
  if (purpose.what)
    text += ": about " + whole(static_cast<double>(used + free) / purpose.bytes_per_particle) +
            " particles fit, at " + whole(purpose.bytes_per_particle) + " bytes each";
  return text + ": use more GPUs";
}

}  // namespace

MemoryPurpose::MemoryPurpose(const char* what, std::size_t particles, double bytes_per_particle)
    : before_(std::exchange(purpose, {what, static_cast<double>(particles), bytes_per_particle})) {}
MemoryPurpose::~MemoryPurpose() { purpose = before_; }

void* device_allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (bytes == 0) return memory;
  const bool is_small = FreedBlocks::are_for(bytes);
  if (is_small && is_in_order()) memory = freed.take(bytes);
  if (memory) return memory;
  const std::size_t size = is_small ? FreedBlocks::size_of(bytes) : bytes;
  cudaError_t status = cudaMallocAsync(&memory, size, stream());
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // or a later check would report it, where the second try succeeds
    release_freed();
    status = cudaMallocAsync(&memory, size, stream());
  }
  if (status != cudaSuccess) {
    cudaGetLastError();
    throw std::runtime_error(out_of_memory(bytes, status));
  }
  return memory;
}

void device_free(void* memory, std::size_t bytes) noexcept {
  if (!memory) return;
  const bool is_kept = FreedBlocks::are_for(bytes) && is_in_order() && freed.keep(memory, bytes);
  if (!is_kept) cudaFreeAsync(memory, stream());
}

void device_upload(void* device, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  if (bytes <= Staging::most_uploaded) {
    staging().upload(device, host, bytes, stream());
  } else {
    const HostWait wait;
    GROVE_CUDA(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
  }
  activity().to_device += bytes;
  ++activity().transfers;
}

namespace {
std::uint64_t waits = 0;
}

void device_download(void* host, const void* device, std::size_t bytes) {
  const Download only{host, device, bytes};
  device_download(std::span(&only, 1));
}

void device_download(std::span<const Download> arrays) {
  std::size_t bytes = 0;
  for (const Download& array : arrays) bytes += array.bytes;
  if (bytes == 0) return;
  const HostWait wait;
  if (bytes <= Staging::most_downloaded) {
    staging().download(arrays);
  } else {
    for (const Download& array : arrays)
      GROVE_CUDA(cudaMemcpy(array.host, array.device, array.bytes, cudaMemcpyDeviceToHost));
    staging().wait();
  }
  ++waits;
  activity().to_host += bytes;
  activity().transfers += arrays.size();
}

std::uint64_t waits_done() { return waits; }

ArrivingBytes::ArrivingBytes(const void* device, std::size_t bytes)
    : memory_(staging().take_arrival()), made_(waits) {
  GROVE_CUDA(cudaMemcpyAsync(memory_, device, bytes, cudaMemcpyDeviceToHost, nullptr));
  activity().to_host += bytes;
  ++activity().transfers;
}
ArrivingBytes::~ArrivingBytes() {
  if (memory_) staging().give_back_arrival(memory_);
}

const void* ArrivingBytes::get() const {
  if (waits == made_) {
    const HostWait wait;
    staging().wait();
    ++waits;
  }
  return memory_;
}

void device_copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  GROVE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream()));
  activity().device_bytes += 2 * bytes;
}

namespace {

bool is_on_device(const void* memory) {
  cudaPointerAttributes attributes;
  GROVE_CUDA(cudaPointerGetAttributes(&attributes, memory));
  return attributes.type == cudaMemoryTypeDevice;
}

}  // namespace

void gather_rows(void* device, const void* from, std::size_t pitch, std::size_t width, std::size_t rows) {
  if (width * rows == 0) return;
  const bool from_device = is_on_device(from);
  std::optional<HostWait> wait;
  if (!from_device) wait.emplace();
  GROVE_CUDA(cudaMemcpy2DAsync(device, width, from, pitch, width, rows,
                               from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice, stream()));
  if (from_device) {
    activity().device_bytes += 2 * width * rows;
  } else {
    activity().to_device += width * rows;
    ++activity().transfers;
  }
}

void copy_any(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const HostWait wait;
  GROVE_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
  GROVE_CUDA(cudaStreamSynchronize(nullptr));
  ++activity().transfers;
  const bool from_device = is_on_device(from), to_device = is_on_device(to);
  if (from_device && to_device) activity().device_bytes += 2 * bytes;
  if (from_device && !to_device) activity().to_host += bytes;
  if (!from_device && to_device) activity().to_device += bytes;
}

void device_clear(void* memory, std::size_t bytes) {
  if (bytes == 0) return;
  GROVE_CUDA(cudaMemsetAsync(memory, 0, bytes, stream()));
  activity().device_bytes += bytes;
}

void device_synchronise() {
  const HostWait wait;
  staging().wait();
  GROVE_CUDA(cudaDeviceSynchronize());  // also for what goes on in the background
  ++waits;
}

namespace {
std::uint64_t peak_before_spare_memory = 0;

void reset_peak_of_pool() {
  std::uint64_t zero = 0;
  GROVE_CUDA(cudaMemPoolSetAttribute(memory_pool(), cudaMemPoolAttrUsedMemHigh, &zero));
}
}  // namespace

DeviceMemoryUse device_memory_use() {
  DeviceMemoryUse use{};
  GROVE_CUDA(cudaMemPoolGetAttribute(memory_pool(), cudaMemPoolAttrUsedMemCurrent, &use.now));
  GROVE_CUDA(cudaMemPoolGetAttribute(memory_pool(), cudaMemPoolAttrUsedMemHigh, &use.peak));
  use.peak = std::max(use.peak, peak_before_spare_memory);
  return use;
}

void reset_peak_device_memory() {
  peak_before_spare_memory = 0;
  reset_peak_of_pool();
}

SpareMemory::SpareMemory() : peak_(device_memory_use().peak) {}

SpareMemory::~SpareMemory() {
  try {
    reset_peak_of_pool();
    peak_before_spare_memory = peak_;
  } catch (const std::exception&) {
    // Another error of the device is under way; the peak then counts all.
  }
}

PlainDeviceMemory::PlainDeviceMemory(std::size_t bytes) {
  if (bytes == 0) return;
  const HostWait wait;
  GROVE_CUDA(cudaMalloc(&memory_, bytes));
}

PlainDeviceMemory::~PlainDeviceMemory() {
  if (!memory_) return;
  const HostWait wait;
  cudaFree(memory_);
}

Pinned::Pinned(void* memory, std::size_t bytes) : memory_(bytes > 0 ? memory : nullptr) {
  if (memory_) GROVE_CUDA(cudaHostRegister(memory_, bytes, cudaHostRegisterDefault));
}

Pinned::~Pinned() {
  if (memory_) cudaHostUnregister(memory_);
}

}  // namespace grove::cuda
