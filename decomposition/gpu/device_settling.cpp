// DeviceRank in decompositions of one round.
#include <algorithm>

#include "decomposition/gpu/device_rank.hpp"
#include "decomposition/services/rank_particles.hpp"
#include "kernels/cuda/cuts/services/places.hpp"

namespace grove {

bool DeviceRank::take_inside(const Box& box) {
  const cuda::Extent extent = cuda::find_extent(positions(), size());
  const bool fits =
      extent.is_finite && (size() == 0 || (box.contains(extent.low) && box.contains(extent.high)));
  if (!fits) return false;
  records_ = cuda::DeviceRecords(size());
  cuda::make_records(box, positions(), size(), 0, records_);
  return true;
}

std::vector<Count> DeviceRank::weigh_parts(std::span<const IntegerPosition> begin) {
  return cuda::weigh_parts(records_, weights(), begin);
}

std::vector<Segment> DeviceRank::settle(const Communicator& comm, const PlaceFinder& finder, const Box& box,
                                        Count all) {
  // The own cells come first, then other ranks.
  const auto own = static_cast<std::uint32_t>(finder.own_cells()),
             numbers = own + static_cast<std::uint32_t>(comm.size());
  std::vector<std::uint32_t> number;
  for (const std::int32_t answer : finder.answers())
    number.push_back(answer >= 0 ? static_cast<std::uint32_t>(answer)
                                 : own + static_cast<std::uint32_t>(-1 - answer));
  const auto sort = [&](cuda::DeviceRecords& records) {
    cuda::DeviceRecords spare(records.size());
    return cuda::sort_by_part(records, spare, finder.begins(), number, numbers);
  };

  const std::vector<Count> begin = sort(records_);
  std::vector<Count> leaving;
  for (std::size_t rank = own; rank < numbers; ++rank) leaving.push_back(begin[rank + 1] - begin[rank]);
  const Count most = comm.max(begin[numbers] - begin[own]);
  cuda::DeviceRecords arrived;
  std::vector<Count> arrived_begin(numbers + 1, 0);
  if (most > 0) {
    const ExchangePlan plan(comm, leaving);
    const auto received = static_cast<std::size_t>(plan.receive_total());
    check_sizes(comm, size() + received, all);
    if (received > 0 || plan.send_total() > 0) {
      move_fields(plan, records_.columns[3].data() + begin[own], most);
      arrived = cuda::DeviceRecords(received);
      cuda::make_records(box, arrived_positions(), received, static_cast<std::uint32_t>(size()), arrived);
      arrived_begin = sort(arrived);
    }
  }
  return join_arrived(begin, arrived, arrived_begin, own, comm.rank());
}

/// Makes the records those of the own cells, in each those that stay, then those that have arrived. begin,
/// arrived_begin: where those of each cell begin.
std::vector<Segment> DeviceRank::join_arrived(std::span<const Count> begin,
                                              const cuda::DeviceRecords& arrived,
                                              std::span<const Count> arrived_begin, std::size_t own_cells,
                                              int rank) {
  std::vector<cuda::SegmentCopy> stay, arrive;
  std::vector<cuda::Segment> segments;
  std::uint64_t end = 0;
  for (std::size_t c = 0; c < own_cells; ++c) {
    const auto staying = static_cast<std::uint64_t>(begin[c + 1] - begin[c]),
               arriving = static_cast<std::uint64_t>(arrived_begin[c + 1] - arrived_begin[c]);
    stay.push_back({static_cast<std::uint64_t>(begin[c]), staying, end});
    arrive.push_back({static_cast<std::uint64_t>(arrived_begin[c]), arriving, end + staying});
    if (staying + arriving > 0) segments.push_back({end, staying + arriving});
    end += staying + arriving;
  }
  if (arrived.size() > 0 || end != records_.size()) {
    cuda::DeviceRecords joined(end);
    cuda::copy_segments(records_, joined, stay);
    cuda::copy_segments(arrived, joined, arrive);
    records_ = std::move(joined);
  }
  spare_ = cuda::DeviceRecords(end);
  std::vector<CellBounds> bounds(segments.size());
  std::vector<cuda::FirstIds> first(segments.size());
  std::vector<Count> weight(segments.size());
  cuda::find_bounds(records_, segments, bounds);
  cuda::find_first_ids(records_, ids(), segments, bounds, first);
  if (weighted_) cuda::sum_weights(records_, weights(), segments, weight);
  std::vector<Segment> result;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto count = static_cast<Count>(segments[i].count);
    result.push_back({bounds[i].low, bounds[i].high, count, weighted_ ? weight[i] : count, {}, rank});
    std::copy_n(first[i].id, 3, result.back().first);
  }
  return result;
}

void DeviceRank::take_portions(const Frontier&, std::span<const Count> portions) {
  portions_.assign(portions.begin(), portions.end());
}

/// Before particles move once more: those that have arrived take their places among the others.
void DeviceRank::end_arrival() {
  if (arrived_.empty()) return;
  order_fields();
  ids_ = size();
  cuda::number_elements(records_.columns[3].data(), records_.size());
}

}  // namespace grove
