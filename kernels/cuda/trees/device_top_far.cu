// The part of DeviceTop that is about moments for expansions.
#include <span>
#include <vector>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/trees/device_top.hpp"

namespace grove::cuda {
namespace {

constexpr int gather_threads = 128;

/// A block per cell.
__global__ void __launch_bounds__(gather_threads)
    gather_moments(const FarMoments* moments, const std::int32_t* chosen, FarMoments* out) {
  constexpr int values = sizeof(FarMoments) / sizeof(double);
  const auto* const from = reinterpret_cast<const double*>(moments + chosen[blockIdx.x]);
  auto* const to = reinterpret_cast<double*>(out + blockIdx.x);
  for (auto i = static_cast<int>(threadIdx.x); i < values; i += static_cast<int>(gather_threads))
    to[i] = from[i];
}

void make_room(DeviceArray<FarMoments>& moments, std::size_t cells) {
  if (moments.size() != cells) moments = DeviceArray<FarMoments>(cells);
}

}  // namespace

void DeviceTop::combine_far(const FarMoments* leaves) {
  make_room(far_, known_);
  climb_from_leaves({cell_links_.data(), parent_.data(), balls_.data(), far_.data(), known_, images_}, leaves,
                    leaf_cell_.data(), static_cast<std::uint32_t>(table_.own_leaves), nullptr);
}

std::vector<FarMoments> DeviceTop::begin_far(const FarMoments* leaves) {
  const std::size_t cells = table_.cells.size();
  make_room(own_far_, cells);
  climb_from_leaves({cell_links_.data(), parent_.data(), own_balls_.data(), own_far_.data(), cells, images_},
                    leaves, leaf_cell_.data(), static_cast<std::uint32_t>(table_.own_leaves),
                    is_cover_.data());
  std::vector<FarMoments> told(static_cast<std::size_t>(table_.own_covers));
  const std::span<const std::int32_t> covers(table_.covers);
  if (!told.empty())
    gather_far(covers.subspan(static_cast<std::size_t>(table_.first_own_cover), told.size())).download(told);
  return told;
}

DeviceArray<FarMoments> DeviceTop::gather_far(std::span<const std::int32_t> cells) const {
  DeviceArray<FarMoments> gathered(cells.size());
  if (cells.empty()) return gathered;
  const DeviceArray<std::int32_t> chosen{cells};
  gather_moments<<<static_cast<unsigned>(cells.size()), gather_threads, 0, stream()>>>(
      own_far_.data(), chosen.data(), gathered.data());
  launched("Grove::cuda::gather_moments");
  return gathered;
}

void DeviceTop::finish_far(std::span<const FarMoments> covers, const FarMoments* values) {
  const std::size_t own = own_far_.size();
  make_room(far_, known_);
  device_copy(far_.data(), own_far_.data(), own * sizeof(FarMoments));
  if (known_ > own) device_copy(far_.data() + own, values, (known_ - own) * sizeof(FarMoments));
  const DeviceArray<FarMoments> told{covers};
  climb_from_covers({cell_links_.data(), parent_.data(), balls_.data(), far_.data(), known_, images_},
                    told.data(), cover_cells_.data(), static_cast<std::uint32_t>(covers.size()));
}

}  // namespace grove::cuda
