#include "decomposition/gpu/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "base/errors.hpp"
#include "comm/host.hpp"
#include "kernels/cuda/device/device.hpp"

namespace grove {
namespace {

/// A rank's description of the GPU that it would use.
struct Entry {
  std::array<char, 64> host, name, pci;
  std::array<char, 16> identity;
  std::int32_t device;  ///< its number there; none: there is none
};
constexpr std::int32_t none = -1;

void set(std::array<char, 64>& to, const std::string& text) {
  to.fill(0);
  std::memcpy(to.data(), text.data(), std::min(text.size(), to.size() - 1));
}

/// The number of the GPU that this rank would use; none: there is none. Collective.
std::int32_t own_device(const Communicator& comm) {
  const int place = comm.rank_on_host(), count = cuda::device_count();
  return count == 0 ? none : cuda::selected_device().value_or(place % count);
}

Entry own_entry(const Communicator& comm) {
  Entry own{};
  set(own.host, host_name());
  own.device = own_device(comm);
  comm.together([&] {
    if (own.device == none) return;
    const cuda::DeviceInfo info = cuda::device_info(own.device);
    set(own.name, info.name);
    set(own.pci, info.pci);
    own.identity = info.identity;
  });
  return own;
}

struct Survey {
  RankDevices devices;
  std::string fault;  ///< why they cannot be used
};

/// Says the same to all ranks.
Survey survey(const std::vector<Entry>& entries, bool may_share) {
  Survey result;
  std::map<std::array<char, 16>, std::size_t> users;
  for (std::size_t rank = 0; rank < entries.size(); ++rank) {
    const Entry& entry = entries[rank];
    if (entry.device == none) {
      result.fault = fmt::format("rank {} on {} sees no GPU", rank, entry.host.data());
      return result;
    }
    result.devices.of_rank.push_back({entry.host.data(), entry.name.data(), entry.pci.data()});
    const auto [user, is_first] = users.emplace(entry.identity, rank);
    if (is_first) continue;
    result.devices.shared = true;
    if (!may_share && result.fault.empty())
      result.fault = fmt::format("ranks {} and {} on {} would use the same GPU, {}", user->second, rank,
                                 entry.host.data(), entry.pci.data());
  }
  return result;
}

/// The launcher's choice, if there is one.
std::string visible_devices() {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  return list ? fmt::format(" (CUDA_VISIBLE_DEVICES is \"{}\" on rank 0)", list) : "";
}

}  // namespace

std::string RankDevices::table() const {
  std::string text;
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank)
    text += fmt::format("rank {:>4} -> {} -> {}, {}\n", rank, of_rank[rank].host, of_rank[rank].name,
                        of_rank[rank].pci);
  return text;
}

std::optional<cuda::DeviceInfo> device_of_this_rank(const Communicator& comm) {
  const std::int32_t device = own_device(comm);
  std::optional<cuda::DeviceInfo> info;
  comm.together([&] {
    if (device != none) info = cuda::device_info(device);
  });
  return info;
}

std::string fault_of_devices(const Communicator& comm, bool may_share) {
  return survey(comm.all_gather(own_entry(comm)), may_share).fault;
}

RankDevices take_devices(const Communicator& comm, bool may_share) {
  const Entry own = own_entry(comm);
  Survey found = survey(comm.all_gather(own), may_share);
  comm.together([&] {
    if (!found.fault.empty())
      throw InputError(fmt::format(
          "{}{}: start as many ranks per host as it has GPUs, or let them share with --share-gpu, "
          "or compute on the host (--backend kokkos)",
          found.fault, visible_devices()));
    cuda::select_device(own.device, found.devices.shared);
  });
  return std::move(found.devices);
}

}  // namespace grove
