#include "comm/exchange_plan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "comm/counted.hpp"

namespace grove {
namespace {

std::vector<Count> offsets_of(std::span<const Count> counts) {
  std::vector<Count> offsets(counts.size() + 1, 0);
  std::inclusive_scan(counts.begin(), counts.end(), offsets.begin() + 1);
  return offsets;
}

/// How many elements come from each rank.
std::vector<Count> told_counts(const Communicator& comm, std::span<const Count> send_counts,
                               std::span<Count> maxima = {}) {
  const auto self = static_cast<std::size_t>(comm.rank());
  std::vector<Told<Count>> told;
  for (std::size_t rank = 0; rank < send_counts.size(); ++rank)
    if (rank != self && send_counts[rank] != 0) told.push_back({static_cast<int>(rank), send_counts[rank]});
  std::vector<Count> counts(send_counts.size(), 0);
  counts[self] = send_counts[self];
  for (const auto& [rank, count] : tell_some(comm, std::span<const Told<Count>>(told), maxima))
    counts[static_cast<std::size_t>(rank)] = count;
  return counts;
}

}  // namespace

ExchangePlan::ExchangePlan(const Communicator& comm, std::span<const Count> send_counts,
                           std::size_t round_bytes)
    : ExchangePlan(comm, send_counts, told_counts(comm, send_counts), round_bytes) {}

ExchangePlan::ExchangePlan(const Communicator& comm, std::span<const Count> send_counts,
                           std::span<const Count> receive_counts, std::size_t round_bytes)
    : comm_(comm),
      send_offsets_(offsets_of(send_counts)),
      receive_offsets_(offsets_of(receive_counts)),
      round_bytes_(std::min(round_bytes, static_cast<std::size_t>(std::numeric_limits<int>::max()))) {}

ExchangePlan ExchangePlan::with_largest(const Communicator& comm, std::span<const Count> send_counts,
                                        Count& most) {
  return {comm, send_counts, told_counts(comm, send_counts, std::span(&most, 1))};
}

std::size_t ExchangePlan::most_sent_to_a_rank() const {
  Count most = 0;
  for (std::size_t rank = 0; rank + 1 < send_offsets_.size(); ++rank)
    most = std::max(most, send_offsets_[rank + 1] - send_offsets_[rank]);
  return static_cast<std::size_t>(most);
}

void ExchangePlan::apply(const Rounds& rounds, std::size_t element_size, const Pairs& pairs) const {
  const int ranks = comm_.size(), self = comm_.rank();
  const std::size_t round = round_elements(element_size);
  const auto begin_of = [](const std::vector<Count>& offsets, int rank) {
    return static_cast<std::size_t>(offsets[static_cast<std::size_t>(rank)]);
  };

  // Each pair of ranks cuts its message into the same pieces, so pieces match in order. Partners at distance
  // s are served together; a rank has at most one piece out and one in at a time, plus their acknowledgement.
  for (int step = 0; step < ranks; ++step) {
    const int to = (self + step) % ranks, from = (self - step + ranks) % ranks;
    std::size_t out = begin_of(send_offsets_, to), in = begin_of(receive_offsets_, from);
    const std::size_t out_end = begin_of(send_offsets_, to + 1),
                      in_end = begin_of(receive_offsets_, from + 1);
    if (!pairs(static_cast<Count>(out_end - out))) out = out_end;
    if (!pairs(static_cast<Count>(in_end - in))) in = in_end;
    while (out < out_end || in < in_end) {
      const std::size_t out_piece = std::min(round, out_end - out), in_piece = std::min(round, in_end - in);
      if (step == 0) {
        std::memcpy(rounds.target(in, in_piece), rounds.source(out, out_piece), out_piece * element_size);
      } else {
        if (out_piece > 0) count_message(out_piece * element_size);
        std::vector<MPI_Request> requests;
        if (in_piece > 0)
          GROVE_MPI(MPI_Irecv(rounds.target(in, in_piece), static_cast<int>(in_piece * element_size),
                              MPI_BYTE, from, static_cast<int>(Tag::exchange), comm_.get(),
                              &requests.emplace_back()));
        if (out_piece > 0)
          GROVE_MPI(MPI_Isend(rounds.source(out, out_piece), static_cast<int>(out_piece * element_size),
                              MPI_BYTE, to, static_cast<int>(Tag::exchange), comm_.get(),
                              &requests.emplace_back()));
        GROVE_MPI(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
      }
      if (in_piece > 0) rounds.arrived(in, in_piece);
      out += out_piece, in += in_piece;
    }
  }
}

}  // namespace grove
