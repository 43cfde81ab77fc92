// DeviceRank in decompositions of one round.
#include <algorithm>
#include <utility>

#include "decomposition/gpu/device_rank.hpp"
#include "decomposition/gpu/root_tops.hpp"
#include "decomposition/services/rank_particles.hpp"
#include "kernels/cuda/cuts/services/places.hpp"

namespace grove {
namespace {

/// The own cells of a cover, divided further where domain cells began before, and the parts of other ranks.
struct DividedCover {
  std::vector<IntegerPosition> begin;  ///< of each part, in Morton's order
  std::vector<std::uint32_t> number;   ///< of each: those of own cells come first, then other ranks
  std::vector<std::size_t> own_cell;   ///< by number of a part of an own cell: that cell

  DividedCover(const PlaceFinder& finder, std::span<const IntegerPosition> known) {
    const std::span<const IntegerPosition> begins = finder.begins();
    std::vector<std::pair<std::size_t, std::uint32_t>> others;
    auto next = known.begin();
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const std::int32_t answer = finder.answers()[i];
      if (answer < 0) others.emplace_back(begin.size(), static_cast<std::uint32_t>(-1 - answer));
      add(begins[i], answer);
      for (; next != known.end() && (i + 1 == begins.size() || comes_before(*next, begins[i + 1])); ++next)
        if (answer >= 0 && comes_before(begins[i], *next)) add(*next, answer);
    }
    for (const auto& [part, rank] : others) number[part] = static_cast<std::uint32_t>(own_cell.size()) + rank;
  }

 private:
  void add(const IntegerPosition& place, std::int32_t answer) {
    begin.push_back(place);
    number.push_back(static_cast<std::uint32_t>(own_cell.size()));
    if (answer >= 0) own_cell.push_back(static_cast<std::size_t>(answer));
  }
};

}  // namespace

bool DeviceRank::take_inside(const Box& box) {
  const cuda::Extent& extent = extent_.get();
  const bool fits =
      extent.is_finite && (size() == 0 || (box.contains(extent.low) && box.contains(extent.high)));
  if (!fits) return false;
  box_ = box;
  records_ = cuda::DeviceRecords(size());
  cuda::make_records(box, led_positions(), size(), 0, records_);
  return true;
}

std::vector<PlaceSample> DeviceRank::sample(const SampleRates& rates, int deepest) {
  return cuda::sample_records(records_, ids(), particles_.values(fields::rung), rates, deepest);
}

std::vector<PartWork> DeviceRank::weigh_parts(std::span<const IntegerPosition> begin, int deepest) {
  return cuda::weigh_parts(records_, weights(), particles_.values(fields::rung), begin, deepest);
}

std::vector<Segment> DeviceRank::settle(const Communicator& comm, const PlaceFinder& finder, const Box& box,
                                        Count all) {
  const DividedCover cover(finder, known_domain_cells());
  // The own cells come first, then other ranks.
  const std::size_t own = cover.own_cell.size();
  const auto numbers = static_cast<std::uint32_t>(own) + static_cast<std::uint32_t>(comm.size());
  const auto sort = [&](cuda::DeviceRecords& records) {
    cuda::DeviceRecords spare(records.size());
    return cuda::sort_by_part(records, spare, cover.begin, cover.number, numbers);
  };

  const cuda::DeviceArray<Count> own_begin = sort(records_);
  std::vector<Count> begin(numbers + 1);
  own_begin.download(begin);
  std::vector<Count> leaving;
  for (std::size_t rank = own; rank < numbers; ++rank) leaving.push_back(begin[rank + 1] - begin[rank]);
  Count most = begin[numbers] - begin[own];
  const ExchangePlan plan = ExchangePlan::with_largest(comm, leaving, most);
  const cuda::PartBegins stay{own_begin.data(), static_cast<std::uint32_t>(own)};
  const auto received = static_cast<std::size_t>(plan.receive_total());
  if (most > 0) {
    check_sizes(comm, size() + received, all);
    if (received > 0 || plan.send_total() > 0)
      move_fields(plan, records_.columns[3].data() + begin[own], most);
  }
  const std::size_t count = static_cast<std::size_t>(begin[own]) + received;
  if (received == 0 && count == records_.size()) {
    spare_ = cuda::DeviceRecords(count);
    return describe(stay, cover.own_cell, comm.rank());
  }
  cuda::DeviceRecords arrived(received), joined(count);
  cuda::make_records(box, arrived_positions(), received, static_cast<std::uint32_t>(size()), arrived);
  const cuda::DeviceArray<Count> arrived_begin = sort(arrived),
                                 joined_begin =
                                     cuda::join_parts(records_, stay, arrived, arrived_begin.data(), joined);
  records_ = std::move(joined);
  arrived = {};
  make_room_for_cuts();
  return describe({joined_begin.data(), stay.parts}, cover.own_cell, comm.rank());
}

/// Describes the parts of own cells, which the records are. cover_cell: the own cell of each part. Returns
/// the segments of own cells that are not empty.
std::vector<Segment> DeviceRank::describe(const cuda::PartBegins& parts,
                                          std::span<const std::size_t> cover_cell, int rank) {
  const cuda::DescribedParts found = cuda::describe_parts(records_, ids(), weights(), parts);
  segments_ = segments_of(found, weights() != nullptr, rank);
  std::vector<Segment> result;
  for (std::size_t part = 0, next = 0; part < cover_cell.size();) {
    const std::size_t first = next;
    const std::size_t cell = cover_cell[part];
    for (; part < cover_cell.size() && cover_cell[part] == cell; ++part)
      if (found.begin[part + 1] > found.begin[part]) ++next;
    if (next > first)
      result.push_back(grove::joined(std::span<const Segment>(segments_).subspan(first, next - first)));
  }
  return result;
}

void DeviceRank::take_portions(const Frontier&, std::span<const Count> portions) {
  portions_.assign(portions.begin(), portions.end());
}

/// Many that have arrived take their places, and what has left is gone, before cuts take more memory.
void DeviceRank::make_room_for_cuts() {
  if (keep_records_ && !have_few_arrived()) end_arrival();
  spare_ = cuda::DeviceRecords(records_.size());
}

/// Those that have arrived take their places among the others, and records are numbered anew.
void DeviceRank::end_arrival() {
  if (arrived_.empty()) return;
  order_fields();
  ids_ = size();
  cuda::number_elements(records_.columns[3].data(), records_.size());
}

}  // namespace grove
