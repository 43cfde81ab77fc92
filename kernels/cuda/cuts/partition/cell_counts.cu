#include "kernels/cuda/cuts/partition/cell_counts.cuh"

#include <algorithm>
#include <cstring>
#include <cub/block/block_reduce.cuh>
#include <numeric>
#include <utility>

#include "kernels/cuda/cuts/partition/key_pass.cuh"
#include "kernels/cuda/cuts/partition/orb_partition.cuh"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {
namespace {

using Atomic = unsigned long long;

__device__ void add(Count& to, std::uint64_t amount) {
  atomicAdd(reinterpret_cast<Atomic*>(&to), static_cast<Atomic>(amount));
}
__device__ void add(Tally& to, std::uint64_t count, std::uint64_t weight) {
  add(to.count, count);
  add(to.weight, weight);
}

/// The part of a cell that a block reads.
struct Piece {
  AxisSegment axis;
  std::uint64_t begin, end;

  __device__ Piece(const AxisSegment* axes, const Tile& tile, std::uint64_t tile_size)
      : axis(axes[tile.task]),
        begin(axis.first + tile.number * tile_size),
        end(min(begin + tile_size, axis.first + axis.count)) {}

  template <class Visitor>
  __device__ void for_each(Visitor&& visit) const {
    for_each_key(axis.keys, begin, end, {threadIdx.x, threads}, visit);
  }
  __device__ std::uint32_t weight_of(const std::uint32_t* weights, std::uint64_t position) const {
    return weights[axis.indices[position]];
  }
};

/// Counts what lies left of the middle, and in the bins around it.
__global__ void __launch_bounds__(threads)
    near_middle(const AxisSegment* axes, const AxisChoice* all, const std::uint64_t* answer_begin,
                const Tile* tiles, std::uint64_t tile_size, Count* answers) {
  __shared__ std::uint32_t count[1 + MiddleBins::number];
  const Tile tile = tiles[blockIdx.x];
  const AxisChoice choice = all[tile.task];
  if (choice.middle == 0) return;
  const Piece piece(axes, tile, tile_size);
  const int wanted = choice.bins_shift < 0 ? 1 : 1 + MiddleBins::number;
  const MiddleBins bins{choice.middle, choice.bins_shift};
  for (int b = static_cast<int>(threadIdx.x); b < wanted; b += threads) count[b] = 0;
  __syncthreads();
  std::uint32_t left = 0;
  piece.for_each([&](Coordinate key, std::uint64_t) {
    left += key < choice.middle;
    if (wanted == 1) return;
    if (const int bin = bins.bin_of(key); bin != MiddleBins::too_far) atomicAdd(&count[1 + bin], 1u);
  });
  left = __reduce_add_sync(~0u, left);
  if (threadIdx.x % 32 == 0) atomicAdd(&count[0], left);
  __syncthreads();
  for (int b = static_cast<int>(threadIdx.x); b < wanted; b += threads)
    if (count[b] > 0) add(answers[answer_begin[tile.task] + static_cast<std::uint64_t>(b)], count[b]);
}

/// Up to `most` candidates, compared one by one. Coordinates left of `first` wrap around to large offsets, so
/// one comparison tests both ends.
template <int most>
__global__ void __launch_bounds__(threads)
    compare(const AxisSegment* axes, const CandidateCuts* all, const std::uint64_t* answer_begin,
            const Tile* tiles, std::uint64_t tile_size, const std::uint32_t* weights, Tally* answers) {
  using Reduce = cub::BlockReduce<std::uint64_t, threads>;
  __shared__ typename Reduce::TempStorage storage;
  const Tile tile = tiles[blockIdx.x];
  const CandidateCuts cuts = all[tile.task];
  if (cuts.candidates > CandidateCuts::few) return;
  const Piece piece(axes, tile, tile_size);
  std::uint32_t count[most] = {};
  std::uint64_t weight[most] = {};
  const bool weigh = weights && cuts.weigh;
  if (weigh)
    piece.for_each([&](Coordinate key, std::uint64_t position) {
      const Coordinate offset = key - cuts.first;
      const std::uint32_t w = piece.weight_of(weights, position);
#pragma unroll
      for (int k = 0; k < most; ++k) {
        const bool is_left = offset < cuts.step * (k + 1);
        count[k] += is_left;
        weight[k] += is_left ? w : 0;
      }
    });
  else
    piece.for_each([&](Coordinate key, std::uint64_t) {
      const Coordinate offset = key - cuts.first;
#pragma unroll
      for (int k = 0; k < most; ++k) count[k] += offset < cuts.step * (k + 1);
    });
#pragma unroll
  for (int k = 0; k < most; ++k) {
    if (k >= cuts.candidates) break;
    const std::uint64_t c = Reduce(storage).Sum(count[k]);
    __syncthreads();
    const std::uint64_t w = weigh ? Reduce(storage).Sum(weight[k]) : c;
    __syncthreads();
    if (threadIdx.x == 0 && c > 0) add(answers[answer_begin[tile.task] + k], c, w);
  }
}

/// Many candidates, by the digit of the coordinate: what is in each part, to be summed by the host.
/// Dynamic shared memory: a Tally, or half of one, for each of the most candidates.
__global__ void __launch_bounds__(threads)
    count_digits(const AxisSegment* axes, const CandidateCuts* all, const std::uint64_t* answer_begin,
                 const Tile* tiles, std::uint64_t tile_size, const std::uint32_t* weights, Tally* answers) {
  extern __shared__ Atomic bins[];
  const Tile tile = tiles[blockIdx.x];
  const CandidateCuts cuts = all[tile.task];
  if (cuts.candidates <= CandidateCuts::few) return;
  const Piece piece(axes, tile, tile_size);
  const bool weigh = weights && cuts.weigh;
  auto* const counts = reinterpret_cast<std::uint32_t*>(bins);
  const auto candidates = static_cast<std::uint32_t>(cuts.candidates);
  Atomic* const weight_in = bins + (candidates + 1) / 2;
  for (std::uint32_t b = threadIdx.x; b < candidates; b += threads) {
    counts[b] = 0;
    if (weigh) weight_in[b] = 0;
  }
  __syncthreads();
  const int shift = __ffs(static_cast<int>(cuts.step)) - 1;
  piece.for_each([&](Coordinate key, std::uint64_t position) {
    const std::uint32_t digit = (key - cuts.first) >> shift;
    if (digit >= candidates) return;
    atomicAdd(&counts[digit], 1u);
    if (weigh) atomicAdd(&weight_in[digit], static_cast<Atomic>(piece.weight_of(weights, position)));
  });
  __syncthreads();
  for (std::uint32_t b = threadIdx.x; b < candidates; b += threads)
    if (counts[b] > 0) add(answers[answer_begin[tile.task] + b], counts[b], weigh ? weight_in[b] : counts[b]);
}

/// keys: room for `room`; what does not fit is only counted.
__global__ void __launch_bounds__(threads)
    gather(const AxisSegment* axes, const KeyInterval* all, const Tile* tiles, std::uint64_t tile_size,
           const std::uint32_t* weights, GatheredKey* keys, std::uint64_t room, Atomic* number) {
  const Tile tile = tiles[blockIdx.x];
  const KeyInterval interval = all[tile.task];
  const Piece piece(axes, tile, tile_size);
  const bool weigh = weights && interval.weigh;
  const Coordinate width = interval.last - interval.first;
  piece.for_each([&](Coordinate key, std::uint64_t position) {
    if (key - interval.first > width) return;
    const std::uint64_t place = atomicAdd(number, Atomic{1});
    const Count weight = weigh ? piece.weight_of(weights, position) : 1;
    if (place < room) keys[place] = {{1, weight}, key, tile.task};
  });
}

__global__ void __launch_bounds__(threads)
    tied(const AxisSegment* axes, const TiedCuts* all, const std::uint64_t* answer_begin, const Tile* tiles,
         std::uint64_t tile_size, const ParticleId* ids, const std::uint32_t* weights, Tally* answers) {
  const Tile tile = tiles[blockIdx.x];
  const TiedCuts cuts = all[tile.task];
  const Piece piece(axes, tile, tile_size);
  piece.for_each([&](Coordinate key, std::uint64_t position) {
    if (key != cuts.coordinate) return;
    const std::uint32_t index = piece.axis.indices[position];
    const ParticleId id = id_of(ids, index);
    if (id < cuts.first) return;
    const ParticleId part = (id - cuts.first) / cuts.step;
    if (part < static_cast<ParticleId>(cuts.candidates))
      add(answers[answer_begin[tile.task] + part], 1, weights ? weights[index] : 1);
  });
}

/// A warp counts in one tile of the partition at a time.
__global__ void __launch_bounds__(threads)
    sides(const AxisSegment* axes, CellTask* tasks, const Tile* tiles, std::uint64_t tile_size,
          const std::uint32_t* first_piece, const ParticleId* ids, const std::uint32_t* weights,
          std::uint32_t* left_in, SideTally* answers) {
  constexpr std::uint64_t piece_size = OrbPartition::tile_size;
  const Tile tile = tiles[blockIdx.x];
  const AxisSegment axis = axes[tile.task];
  const Cut cut = tasks[tile.task].cut;
  const std::uint64_t begin = tile.number * tile_size, end = min(begin + tile_size, axis.count);
  std::uint64_t all_left = 0, weight_left = 0;
  ParticleId first_right = ~ParticleId{0};
  for (std::uint64_t b = begin + threadIdx.x / 32 * piece_size; b < end; b += threads / 32 * piece_size) {
    std::uint32_t left = 0;
    for_each_key(axis.keys, axis.first + b, axis.first + min(b + piece_size, end), {threadIdx.x % 32, 32},
                 [&](Coordinate key, std::uint64_t position) {
                   bool is_left = key < cut.coordinate;
                   if (key == cut.coordinate) {
                     const ParticleId id = id_of(ids, axis.indices[position]);
                     is_left = id < cut.id;
                     if (!is_left) first_right = min(first_right, id);
                   }
                   if (!is_left) return;
                   ++left;
                   if (weights) weight_left += weights[axis.indices[position]];
                 });
    left = __reduce_add_sync(~0u, left);
    all_left += left;
    if (threadIdx.x % 32 == 0) left_in[first_piece[tile.task] + b / piece_size] = left;
  }
  if (first_right != ~ParticleId{0})
    atomicMin(reinterpret_cast<Atomic*>(&answers[tile.task].first_right), static_cast<Atomic>(first_right));
  if (weight_left > 0)
    atomicAdd(reinterpret_cast<Atomic*>(&answers[tile.task].weight_left), static_cast<Atomic>(weight_left));
  if (threadIdx.x % 32 == 0 && all_left > 0) {
    atomicAdd(reinterpret_cast<Atomic*>(&answers[tile.task].left), static_cast<Atomic>(all_left));
    atomicAdd(reinterpret_cast<Atomic*>(&tasks[tile.task].left), static_cast<Atomic>(all_left));
  }
}

/// The begins of the answers to each question; the last element is their number.
template <class Question>
std::vector<std::uint64_t> begins_of(std::span<const Question> questions) {
  std::vector<std::uint64_t> begins{0};
  for (const Question& q : questions)
    begins.push_back(begins.back() + static_cast<std::uint64_t>(q.candidates));
  return begins;
}

/// Zeroed, on the device.
template <class T>
T* answers_of(PassMemory& memory, std::uint64_t number) {
  memory.answers.reserve(number * sizeof(T));
  device_clear(memory.answers.data(), number * sizeof(T));
  return reinterpret_cast<T*>(memory.answers.data());
}

/// The questions and where their answers begin, on the device.
template <class Question>
struct Asked {
  const AxisSegment* axes;
  const Question* questions;
  const std::uint64_t* begins;

  Asked(Parcel& parcel, std::span<const AxisSegment> host_axes, std::span<const Question> host_questions,
        std::span<const std::uint64_t> host_begins) {
    parcel.clear();
    const std::size_t place[] = {parcel.add(host_axes), parcel.add(host_questions), parcel.add(host_begins)};
    parcel.send();
    axes = parcel.at<AxisSegment>(place[0]);
    questions = parcel.at<Question>(place[1]);
    begins = parcel.at<std::uint64_t>(place[2]);
  }
};

template <int most>
void launch_compare(const Asked<CandidateCuts>& asked, const Tiles& tiles, const std::uint32_t* weights,
                    Tally* answers) {
  compare<most><<<tiles.size(), threads>>>(asked.axes, asked.questions, asked.begins, tiles.data(),
                                           tiles.tile_size(), weights, answers);
  launched("Grove::cuda::compare", (weights ? 12 : 4) * tiles.records());
}

/// Sums what is in each part to what is left of each candidate.
void add_up(std::span<Tally> parts) { std::partial_sum(parts.begin(), parts.end(), parts.begin()); }

}  // namespace

void count_near_middle(PassMemory& memory, std::span<const AxisSegment> axes,
                       std::span<const AxisChoice> choices, const Tiles& tiles, std::span<Count> answer) {
  if (tiles.size() == 0) return;
  std::vector<std::uint64_t> begins;
  std::uint64_t end = 0;
  for (const AxisChoice& choice : choices) begins.push_back(std::exchange(end, end + choice.answers()));
  const Asked<AxisChoice> asked(memory.parcel, axes, choices, begins);
  Count* const answers = answers_of<Count>(memory, end);
  near_middle<<<tiles.size(), threads>>>(asked.axes, asked.questions, asked.begins, tiles.data(),
                                         tiles.tile_size(), answers);
  launched("Grove::cuda::near_middle", 4 * tiles.records());
  device_download(answer.data(), answers, answer.size_bytes());
}

void count_candidates(PassMemory& memory, std::span<const AxisSegment> axes,
                      std::span<const CandidateCuts> cuts, const Tiles& tiles, const std::uint32_t* weights,
                      std::span<Tally> answer) {
  if (tiles.size() == 0) return;
  const std::vector<std::uint64_t> begins = begins_of(cuts);
  const Asked<CandidateCuts> asked(memory.parcel, axes, cuts, begins);
  Tally* const answers = answers_of<Tally>(memory, begins.back());
  std::int32_t most_of_few = 0, most = 0;
  bool weigh = false;
  for (const CandidateCuts& c : cuts) {
    std::int32_t& greatest = c.candidates > CandidateCuts::few ? most : most_of_few;
    greatest = std::max(greatest, c.candidates);
    weigh = weigh || (weights && c.weigh);
  }
  if (most_of_few > 4)
    launch_compare<CandidateCuts::few>(asked, tiles, weights, answers);
  else if (most_of_few > 1)
    launch_compare<4>(asked, tiles, weights, answers);
  else if (most_of_few == 1)
    launch_compare<1>(asked, tiles, weights, answers);
  if (most > 0) {
    const std::size_t bins = static_cast<std::size_t>(most);
    const std::size_t shared = ((bins + 1) / 2 + (weigh ? bins : 0)) * sizeof(Atomic);
    count_digits<<<tiles.size(), threads, shared>>>(asked.axes, asked.questions, asked.begins, tiles.data(),
                                                    tiles.tile_size(), weights, answers);
    launched("Grove::cuda::count_digits", (weigh ? 12 : 4) * tiles.records());
  }
  device_download(answer.data(), answers, answer.size_bytes());
  for (std::size_t i = 0; i < cuts.size(); ++i)
    if (cuts[i].candidates > CandidateCuts::few) add_up(answer.subspan(begins[i], begins[i + 1] - begins[i]));
}

std::vector<GatheredKey> gather_intervals(PassMemory& memory, std::span<const AxisSegment> axes,
                                          std::span<const KeyInterval> intervals, const Tiles& tiles,
                                          const std::uint32_t* weights) {
  if (tiles.size() == 0) return {};
  const Asked<KeyInterval> asked(memory.parcel, axes, intervals, {});
  // The caller asks when few are left; how many of them are here is not known before. Their number stands in
  // front of them, so that both come in one transfer.
  struct Head {
    alignas(GatheredKey) Atomic number;
    std::uint64_t unused;
  };
  constexpr std::size_t expected = 1024;
  for (std::size_t room = 1u << 16;;) {
    memory.answers.reserve(sizeof(Head) + room * sizeof(GatheredKey));
    auto* const head = reinterpret_cast<Head*>(memory.answers.data());
    auto* const keys = reinterpret_cast<GatheredKey*>(head + 1);
    device_clear(head, sizeof(Head));
    gather<<<tiles.size(), threads>>>(asked.axes, asked.questions, tiles.data(), tiles.tile_size(), weights,
                                      keys, room, &head->number);
    launched("Grove::cuda::gather", 4 * tiles.records());
    std::vector<std::byte> first(sizeof(Head) + expected * sizeof(GatheredKey));
    device_download(first.data(), head, first.size());
    Atomic found = 0;
    std::memcpy(&found, first.data(), sizeof(found));
    if (found > room) {
      room = found;
      continue;
    }
    std::vector<GatheredKey> result(found);
    const std::size_t here = std::min<std::size_t>(found, expected);
    if (here > 0) std::memcpy(result.data(), first.data() + sizeof(Head), here * sizeof(GatheredKey));
    if (found > here)
      device_download(result.data() + here, keys + here, (found - here) * sizeof(GatheredKey));
    return result;
  }
}

void count_tied(PassMemory& memory, std::span<const AxisSegment> axes, std::span<const TiedCuts> cuts,
                const Tiles& tiles, const ParticleId* ids, const std::uint32_t* weights,
                std::span<Tally> answer) {
  if (tiles.size() == 0) return;
  const std::vector<std::uint64_t> begins = begins_of(cuts);
  const Asked<TiedCuts> asked(memory.parcel, axes, cuts, begins);
  Tally* const answers = answers_of<Tally>(memory, begins.back());
  tied<<<tiles.size(), threads>>>(asked.axes, asked.questions, asked.begins, tiles.data(), tiles.tile_size(),
                                  ids, weights, answers);
  launched("Grove::cuda::tied", 4 * tiles.records());
  device_download(answer.data(), answers, answer.size_bytes());
  for (std::size_t i = 0; i < cuts.size(); ++i) add_up(answer.subspan(begins[i], begins[i + 1] - begins[i]));
}

void count_sides(const AxisSegment* axes, const Tiles& tiles, const Tiles& partition_tiles,
                 const ParticleId* ids, const std::uint32_t* weights, CellTask* tasks, std::uint32_t* left_in,
                 SideTally* answers) {
  if (tiles.size() == 0) return;
  sides<<<tiles.size(), threads>>>(axes, tasks, tiles.data(), tiles.tile_size(), partition_tiles.begin(), ids,
                                   weights, left_in, answers);
  launched("Grove::cuda::sides", (weights ? 12 : 4) * tiles.records());
}

}  // namespace grove::cuda
