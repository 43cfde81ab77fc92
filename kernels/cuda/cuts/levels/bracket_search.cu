#include "kernels/cuda/cuts/levels/bracket_search.cuh"

#include <algorithm>
#include <vector>

#include "base/activity.hpp"
#include "kernels/cuda/cuts/levels/bracket_pass.cuh"
#include "kernels/cuda/cuts/partition/orb_partition.cuh"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {
namespace {

/// The search in the lists: a cell each.
__global__ void make_list_tasks(const CellTask* tasks, const CutScheme scheme, const Bracket* brackets,
                                std::uint32_t count, const Columns columns0, const Columns columns1,
                                CellTask* list_tasks, std::uint32_t* failures) {
  const std::uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= count) return;
  const CellTask& task = tasks[c];
  const Bracket& b = brackets[c];
  const auto all = static_cast<Count>(task.count);
  const auto left = static_cast<std::uint64_t>(
      scheme.target(all, all, task.leaves, static_cast<Count>(b.left_of_middle)).longest());
  CellTask list{};
  list.first = task.first;
  list.from = 1 - task.from;
  list.axis = BracketList::key_column;
  list.low = list.key_first = task.key_first;
  list.high = list.key_last = task.key_last;
  list.middle = scheme.middle(list.low, list.high, all);
  list.left_is_known = true;
  list.via = column_of(columns0, columns1, task.from, 3) + task.first;
  if (b.holds(left)) {
    list.count = list.inside = b.inside;
    list.left = left - b.below;
  } else {
    atomicAdd(failures, 1u);
  }
  list_tasks[c] = list;
}

/// The cuts, from the lists to the cells.
__global__ void take_cuts(CellTask* tasks, const Bracket* brackets, const CellTask* list_tasks,
                          std::uint32_t count) {
  const std::uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= count) return;
  tasks[c].cut = list_tasks[c].cut;
  tasks[c].cut.axis = tasks[c].axis;
  tasks[c].is_ambiguous = list_tasks[c].is_ambiguous;
  tasks[c].left = brackets[c].below + list_tasks[c].left;
}

/// Adds what goes left of each piece's list.
__global__ void __launch_bounds__(threads)
    add_listed(const CellTask* tasks, const CellTask* list_tasks, const Tile* pieces,
               std::uint32_t piece_count, const PieceList* lists, const Columns columns0,
               const Columns columns1, const ParticleId* ids, std::uint32_t* left_in) {
  const std::uint32_t p = blockIdx.x * warps + threadIdx.x / 32;
  if (p >= piece_count) return;
  const PieceList piece = lists[p];
  const std::int32_t c = pieces[p].task;
  const Cut cut = tasks[c].cut;
  const std::uint32_t* const index = list_tasks[c].via;
  const BracketList list(columns0, columns1, tasks[c]);
  std::uint32_t left = 0;
  for (std::uint32_t i = threadIdx.x % 32; i < piece.count; i += 32) {
    const std::uint32_t key = list.keys[piece.begin + i];
    left += key < cut.coordinate ||
            (key == cut.coordinate && id_of(ids, index[list.places[piece.begin + i]]) < cut.id);
  }
  left = __reduce_add_sync(~0u, left);
  if (threadIdx.x % 32 == 0) left_in[p] += left;
}

}  // namespace

bool BracketSearch::run(std::span<const CellTask> host_tasks, CellTask* tasks, const Tiles& pieces,
                        LeftCounts& left) {
  const auto cells = static_cast<std::uint32_t>(host_tasks.size());
  std::vector<Bracket> brackets;
  std::vector<std::uint64_t> rooms;
  std::uint64_t listed = 0;
  for (const CellTask& task : host_tasks) {
    const auto count = static_cast<double>(task.count);
    const auto quantum = static_cast<double>(scheme_.rounding(static_cast<Count>(task.count)));
    // A quarter more than is expected.
    const auto room = std::min(
        task.count, static_cast<std::uint64_t>(1.25 * (bracket_share(task.count) * count + quantum)));
    brackets.push_back({room, 0, 0, 0});
    rooms.push_back(room);
    listed += room;
  }
  left.reserve(pieces.size());
  const DeviceArray<Bracket> device_brackets{std::span<const Bracket>(brackets)};
  const DeviceArray<std::uint32_t> number{std::span<const std::uint32_t>(&cells, 1)};
  const DeviceArray<PieceList> piece_lists(pieces.size());
  const DeviceArray<CellTask> list_tasks(cells);
  DeviceArray<std::uint32_t> failures(1);
  failures.clear();

  find_brackets(columns_, scheme_, tasks, cells, number.data());
  split_at_brackets(columns_, scheme_, tasks, pieces.data(), pieces.size(), pieces.begin() + cells,
                    device_brackets.data(), piece_lists.data(), left.in());
  activity().device_bytes += 4 * pieces.records() + 8 * listed;
  make_list_tasks<<<(cells + 127) / 128, 128>>>(tasks, scheme_, device_brackets.data(), cells, columns_[0],
                                                columns_[1], list_tasks.data(), failures.data());
  launched("Grove::cuda::make_list_tasks");
  std::uint32_t failed = 0;
  failures.download(std::span(&failed, 1));
  if (failed > 0) return false;

  OrbSearch in_lists(columns_, ids_, scheme_);
  Tiles list_tiles(std::uint64_t{1} << 14), list_pieces(OrbPartition::tile_size);
  list_tiles.make(rooms);
  list_pieces.make(rooms);
  LeftCounts unused;
  in_lists.run(list_tasks.data(), list_tiles, list_pieces, unused);
  take_cuts<<<(cells + 127) / 128, 128>>>(tasks, device_brackets.data(), list_tasks.data(), cells);
  launched("Grove::cuda::take_cuts");
  add_listed<<<(pieces.size() + warps - 1) / warps, threads>>>(tasks, list_tasks.data(), pieces.data(),
                                                               pieces.size(), piece_lists.data(), columns_[0],
                                                               columns_[1], ids_, left.in());
  launched("Grove::cuda::add_listed", 8 * listed);
  left.scan(pieces.size());
  return true;
}

}  // namespace grove::cuda
