// DeviceRank where particles move to other ranks.
#include <utility>

#include "decomposition/gpu/column_groups.hpp"
#include "decomposition/gpu/device_rank.hpp"
#include "decomposition/services/rank_particles.hpp"
#include "kernels/cuda/cuts/partition/record_segments.hpp"

namespace grove {

LedPositions DeviceRank::arrived_positions() const {
  const auto arrived = [&](const Field<Vec3d>& field) -> const Vec3d* {
    const auto columns = particles_.columns();
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (columns[c].info.name == field.info.name) return reinterpret_cast<const Vec3d*>(arrived_[c].data());
    return nullptr;
  };
  return {arrived(fields::position), arrived(fields::velocity), parameters_.lead};
}

/// One rank gets all if no cell was cut.
std::vector<Count> DeviceRank::portions(const Frontier& frontier) {
  if (!cells_ && !portions_.empty()) return portions_;
  std::vector<Count> portions;
  for (std::size_t i = 0; i < frontier.size(); ++i)
    portions.push_back(cells_ ? cells_->tally(frontier.cell(i)).count : static_cast<Count>(size()));
  return portions;
}

void DeviceRank::migrate(const Communicator& comm, const Frontier& frontier, const FrontierMoves& moves,
                         const Box& box) {
  const std::vector<Count> portions = this->portions(frontier);
  end_arrival();
  segments_.clear();
  cells_.reset();
  if (moves.most == 0) return;

  spare_ = cuda::DeviceRecords();  // before a run's first trees half of all particles may be on their way
  const ExchangePlan plan = moves.plan(comm);
  check_sizes(comm, size() + static_cast<std::size_t>(plan.receive_total()), moves.all);
  cuda::DeviceArray<std::uint32_t> index(static_cast<std::size_t>(plan.send_total()));
  const std::uint32_t* all = records_.columns[3].data();
  std::vector<Count> next(plan.send_offsets().begin(), plan.send_offsets().end() - 1);  // by rank
  for (std::size_t i = 0; i < frontier.size();) {
    const int owner = frontier.owner(i);
    Count count = 0;
    for (; i < frontier.size() && frontier.owner(i) == owner; ++i) count += portions[i];
    if (owner != comm.rank()) {
      Count& to = next[static_cast<std::size_t>(owner)];
      cuda::device_copy(index.data() + to, all, static_cast<std::size_t>(count) * sizeof(std::uint32_t));
      to += count;
    }
    all += count;
  }
  move_fields(plan, index.data(), moves.most);
  index = {};
  merge_arrivals(frontier, portions, moves, plan, box, comm.rank());
}

/// Arrivals are numbered from the end of the particles on. Ids and weights, which cuts look up, are put
/// there; what else has arrived waits for order_fields(), which also drops those that have left.
void DeviceRank::move_fields(const ExchangePlan& plan, const std::uint32_t* departing, Count most) {
  const auto received = static_cast<std::size_t>(plan.receive_total());
  ids_ = size() + received;
  const auto columns = particles_.columns();
  for (std::size_t begin = 0; begin < columns.size();) {
    const std::size_t end = end_of_group(columns, begin, most);
    move_columns(plan, departing, columns.subspan(begin, end - begin));
    begin = end;
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    DeviceParticles::Column& column = columns[c];
    const bool is_looked_up =
        column.info.name == fields::id.info.name || column.info.name == fields::work.info.name;
    if (!is_looked_up) continue;
    const std::size_t element = column.element_size;
    cuda::DeviceArray<std::byte> all((size() + received) * element);
    cuda::device_copy(all.data(), column.values.data(), size() * element);
    cuda::device_copy(all.data() + size() * element, arrived_[c].data(), received * element);
    column.values = std::move(all);
    arrived_[c] = {};
  }
}

void DeviceRank::move_columns(const ExchangePlan& plan, const std::uint32_t* departing,
                              std::span<const DeviceParticles::Column> columns) {
  const auto sent = static_cast<std::size_t>(plan.send_total()),
             received = static_cast<std::size_t>(plan.receive_total());
  std::vector<cuda::DeviceArray<std::byte>> packed;
  std::vector<DeviceExchange::Transfer> transfers;
  for (const DeviceParticles::Column& column : columns) {
    cuda::DeviceArray<std::byte>& arrived = arrived_.emplace_back();
    if (!column.info.migrate) continue;
    const std::size_t element = column.element_size;
    arrived = cuda::DeviceArray<std::byte>(received * element);
    cuda::DeviceArray<std::byte>& values = packed.emplace_back(sent * element);
    cuda::gather_elements(values.data(), {column.values.data(), size(), nullptr}, departing, sent, element);
    transfers.push_back({plan, values.data(), arrived.data(), element});
  }
  exchange_.apply(transfers);
}

/// Makes the records those of this rank's frontier cells, left to right: in each those that stay, then the
/// arrivals, of which each rank has sent those of one cell after the other.
void DeviceRank::merge_arrivals(const Frontier& frontier, std::span<const Count> portions,
                                const FrontierMoves& moves, const ExchangePlan& plan, const Box& box,
                                int rank) {
  const auto received = static_cast<std::size_t>(plan.receive_total());
  cuda::DeviceRecords arrived(received);
  cuda::make_records(box, arrived_positions(), received, static_cast<std::uint32_t>(size()), arrived);

  std::vector<cuda::SegmentCopy> stay, arrive;
  const auto offsets = plan.receive_offsets();
  std::vector<std::uint64_t> next(offsets.begin(), offsets.end() - 1);  // by source rank
  std::uint64_t end = 0, from = 0;
  std::size_t own = 0;
  auto arrival = moves.arriving.begin();
  for (std::size_t i = 0; i < frontier.size(); ++i) {
    const auto portion = static_cast<std::uint64_t>(portions[i]);
    if (frontier.owner(i) == rank) {
      stay.push_back({from, portion, end});
      end += portion;
      for (; arrival != moves.arriving.end() && arrival->cell == own; ++arrival) {
        const auto count = static_cast<std::uint64_t>(arrival->count);
        arrive.push_back({next[static_cast<std::size_t>(arrival->rank)], count, end});
        next[static_cast<std::size_t>(arrival->rank)] += count;
        end += count;
      }
      ++own;
    }
    from += portion;
  }
  records_ = cuda::merge_segments(std::move(records_), stay, std::move(arrived), arrive, end);
  make_room_for_cuts();
}

}  // namespace grove
