#include "decomposition/gpu/devices.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "base/errors.hpp"
#include "kernels/cuda/device.hpp"

namespace grove {
namespace {

struct Entry {
  std::array<char, 64> host, name, pci;
};

void set(std::array<char, 64>& to, const std::string& text) {
  to.fill(0);
  std::memcpy(to.data(), text.data(), std::min(text.size(), to.size() - 1));
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown host";
}

/// This rank's place among those of its host.
int rank_on_host(const Communicator& comm) {
  MPI_Comm host = MPI_COMM_NULL;
  int rank = 0;
  GROVE_MPI(MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &host));
  GROVE_MPI(MPI_Comm_rank(host, &rank));
  GROVE_MPI(MPI_Comm_free(&host));
  return rank;
}

std::string visible_devices() {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  return list ? fmt::format(" (CUDA_VISIBLE_DEVICES is \"{}\")", list) : "";
}

}  // namespace

std::string RankDevices::table() const {
  std::string text;
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank)
    text += fmt::format("rank {:>4} -> {} -> {}, {}\n", rank, of_rank[rank].host, of_rank[rank].name,
                        of_rank[rank].pci);
  return text;
}

bool every_rank_has_a_gpu(const Communicator& comm) { return comm.min(cuda::device_count()) > 0; }

RankDevices take_devices(const Communicator& comm, bool may_share) {
  const int place = rank_on_host(comm);
  Entry own{};
  comm.together([&] {
    const int count = cuda::device_count();
    if (count == 0)
      throw InputError(
          fmt::format("rank {} on {} sees no GPU{}: start it where one is, or choose "
                      "--backend kokkos",
                      comm.rank(), host_name(), visible_devices()));
    const int device = place % count;
    cuda::select_device(device);
    const cuda::DeviceInfo info = cuda::device_info(device);
    set(own.host, host_name());
    set(own.name, info.name);
    set(own.pci, info.pci);
  });
  RankDevices devices;
  for (const Entry& entry : comm.all_gather(own))
    devices.of_rank.push_back({entry.host.data(), entry.name.data(), entry.pci.data()});
  comm.together([&] {
    for (std::size_t rank = 0; rank < devices.of_rank.size(); ++rank)
      for (std::size_t other = 0; other < rank; ++other) {
        const RankDevice &a = devices.of_rank[other], &b = devices.of_rank[rank];
        if (a.host != b.host || a.pci != b.pci) continue;
        devices.shared = true;
        if (!may_share)
          throw InputError(
              fmt::format("ranks {} and {} on {} would use the same GPU, {}: start as many "
                          "ranks per host as it has GPUs, or allow it with --share-gpu",
                          other, rank, b.host, b.pci));
      }
  });
  return devices;
}

}  // namespace grove
