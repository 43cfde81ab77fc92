#include "comm/exchange_plan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace grove {
namespace {

std::vector<Count> offsets_of(std::span<const Count> counts) {
  std::vector<Count> offsets(counts.size() + 1, 0);
  std::inclusive_scan(counts.begin(), counts.end(), offsets.begin() + 1);
  return offsets;
}

}  // namespace

ExchangePlan::ExchangePlan(const Communicator& comm, std::span<const Count> send_counts,
                           std::size_t round_bytes)
    : comm_(comm),
      send_offsets_(offsets_of(send_counts)),
      receive_offsets_(offsets_of(comm.all_to_all(send_counts))),
      round_bytes_(std::min(round_bytes, static_cast<std::size_t>(std::numeric_limits<int>::max()))) {}

void ExchangePlan::move_bytes(const std::byte* send, std::byte* receive, std::size_t element_size) const {
  const int ranks = comm_.size(), self = comm_.rank();
  const auto begin_of = [&](const std::vector<Count>& offsets, int rank) {
    return static_cast<std::size_t>(offsets[static_cast<std::size_t>(rank)]) * element_size;
  };
  const auto size_of = [&](const std::vector<Count>& offsets, int rank) {
    return begin_of(offsets, rank + 1) - begin_of(offsets, rank);
  };
  if (const std::size_t own = size_of(send_offsets_, self); own > 0)
    std::memcpy(receive + begin_of(receive_offsets_, self), send + begin_of(send_offsets_, self), own);

  // Each pair of ranks cuts its message into the same pieces, so pieces match in order. Partners at distance
  // s are served together; a rank has at most one piece out and one in at a time, plus their acknowledgement.
  for (int step = 1; step < ranks; ++step) {
    const int to = (self + step) % ranks, from = (self - step + ranks) % ranks;
    const std::size_t out = size_of(send_offsets_, to), in = size_of(receive_offsets_, from);
    for (std::size_t done = 0; done < std::max(out, in); done += round_bytes_) {
      const int out_piece = done < out ? static_cast<int>(std::min(round_bytes_, out - done)) : 0;
      const int in_piece = done < in ? static_cast<int>(std::min(round_bytes_, in - done)) : 0;
      std::vector<MPI_Request> requests;
      if (in_piece > 0)
        GROVE_MPI(MPI_Irecv(receive + begin_of(receive_offsets_, from) + done, in_piece, MPI_BYTE, from,
                            static_cast<int>(Tag::exchange), comm_.get(), &requests.emplace_back()));
      if (out_piece > 0)
        GROVE_MPI(MPI_Isend(send + begin_of(send_offsets_, to) + done, out_piece, MPI_BYTE, to,
                            static_cast<int>(Tag::exchange), comm_.get(), &requests.emplace_back()));
      GROVE_MPI(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    }
  }
}

}  // namespace grove
