#include "machine/links.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

namespace grove {
namespace {

/// The part of NVML that is used, as its documentation declares it.
class Nvml {
 public:
  using Device = struct DeviceOfNvml*;

  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), close) {
    if (!library_) return;
    find(init_, "nvmlInit_v2");
    find(shutdown_, "nvmlShutdown");
    find(by_address_, "nvmlDeviceGetHandleByPciBusId_v2");
    find(common_ancestor_, "nvmlDeviceGetTopologyCommonAncestor");
    find(p2p_status_, "nvmlDeviceGetP2PStatus");
    is_ready_ = init_ && shutdown_ && by_address_ && common_ancestor_ && p2p_status_ && init_() == success;
  }
  ~Nvml() {
    if (is_ready_) shutdown_();
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool is_ready() const { return is_ready_; }
  Device device(const std::string& address) const {
    Device device = nullptr;
    return by_address_(address.c_str(), &device) == success ? device : nullptr;
  }
  bool has_nvlink(Device a, Device b) const {
    constexpr int nvlink = 2, ok = 0;
    int status = -1;
    return p2p_status_(a, b, nvlink, &status) == success && status == ok;
  }
  /// The level at which the paths of two devices to the processors meet; -1: not known.
  int common_ancestor(Device a, Device b) const {
    int level = -1;
    return common_ancestor_(a, b, &level) == success ? level : -1;
  }

 private:
  static constexpr int success = 0;
  static void close(void* library) { dlclose(library); }
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library_.get(), name));
  }

  std::unique_ptr<void, void (*)(void*)> library_;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*by_address_)(const char*, Device*) = nullptr;
  int (*common_ancestor_)(Device, Device, int*) = nullptr;
  int (*p2p_status_)(Device, Device, int, int*) = nullptr;
  bool is_ready_ = false;
};

GpuLink link_over_pcie(int common_ancestor) {
  switch (common_ancestor) {
    case 0:
      return {{}, {}, "one board", false};
    case 10:
      return {{}, {}, "PCIe, same switch", false};
    case 20:
      return {{}, {}, "PCIe, several switches", false};
    case 30:
      return {{}, {}, "PCIe, through the processor", false};
    case 40:
      return {{}, {}, "PCIe, between host bridges of one NUMA node", true};
    case 50:
      return {{}, {}, "PCIe, from one NUMA node to another", true};
    default:
      return {{}, {}, "unknown", true};
  }
}

}  // namespace

std::vector<GpuLink> links_between(std::span<const std::string> gpus) {
  std::vector<GpuLink> links;
  const Nvml nvml;
  if (!nvml.is_ready()) return links;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (std::size_t j = i + 1; j < gpus.size(); ++j) {
      const auto a = nvml.device(gpus[i]), b = nvml.device(gpus[j]);
      if (!a || !b) continue;
      GpuLink link = nvml.has_nvlink(a, b) ? GpuLink{{}, {}, "NVLink", false}
                                           : link_over_pcie(nvml.common_ancestor(a, b));
      link.first = gpus[i], link.second = gpus[j];
      links.push_back(std::move(link));
    }
  return links;
}

std::string fast_networks() {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::error_code error;
  for (const char* folder : {"/sys/class/infiniband", "/sys/class/cxi"})
    for (const fs::directory_entry& adapter : fs::directory_iterator(folder, error))
      names.push_back(adapter.path().filename());
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace grove
