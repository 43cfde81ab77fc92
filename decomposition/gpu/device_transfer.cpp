#include "decomposition/gpu/device_transfer.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "decomposition/gpu/column_groups.hpp"

namespace grove {
namespace {

/// A copy of the elements that leave.
cuda::DeviceArray<std::byte> departing(const LeafTransfer& leaves, const void* values,
                                       std::size_t element_size) {
  const std::size_t bytes = static_cast<std::size_t>(leaves.plan().send_total()) * element_size,
                    before = leaves.departing_before() * element_size,
                    staying = leaves.staying() * element_size;
  const auto* const from = static_cast<const std::byte*>(values);
  cuda::DeviceArray<std::byte> copy(bytes);
  cuda::device_copy(copy.data(), from, before);
  cuda::device_copy(copy.data() + before, from + before + staying, bytes - before);
  return copy;
}

/// Puts those that stay among those that have arrived.
void join(const LeafTransfer& leaves, const void* values, const cuda::DeviceArray<std::byte>& arrived,
          void* moved, std::size_t element_size) {
  const std::size_t before = leaves.arriving_before() * element_size,
                    staying = leaves.staying() * element_size;
  const auto* const from = static_cast<const std::byte*>(values) + leaves.departing_before() * element_size;
  auto* const to = static_cast<std::byte*>(moved);
  cuda::device_copy(to, arrived.data(), before);
  cuda::device_copy(to + before, from, staying);
  cuda::device_copy(to + before + staying, arrived.data() + before, arrived.size() - before);
}

/// The same with the fields of some columns.
void transfer(const DeviceExchange& exchange, const LeafTransfer& leaves,
              std::span<DeviceParticles::Column> columns) {
  const ExchangePlan& plan = leaves.plan();
  std::vector<cuda::DeviceArray<std::byte>> sent, arrived;
  std::vector<DeviceExchange::Transfer> transfers;
  for (const DeviceParticles::Column& column : columns) {
    if (!column.info.migrate) continue;
    sent.push_back(departing(leaves, column.values.data(), column.element_size));
    arrived.emplace_back(static_cast<std::size_t>(plan.receive_total()) * column.element_size);
    transfers.push_back({plan, sent.back().data(), arrived.back().data(), column.element_size});
  }
  exchange.apply(transfers);
  sent.clear();
  auto next = arrived.begin();
  for (DeviceParticles::Column& column : columns) {
    cuda::DeviceArray<std::byte> moved(leaves.size() * column.element_size);
    if (column.info.migrate) join(leaves, column.values.data(), *next++, moved.data(), column.element_size);
    column.values = std::move(moved);
  }
}

}  // namespace

void transfer(const DeviceExchange& exchange, const LeafTransfer& leaves, const void* values, void* moved,
              std::size_t element_size) {
  const cuda::DeviceArray<std::byte> sent = departing(leaves, values, element_size),
                                     arrived(static_cast<std::size_t>(leaves.plan().receive_total()) *
                                             element_size);
  exchange.apply(leaves.plan(), sent.data(), arrived.data(), element_size);
  join(leaves, values, arrived, moved, element_size);
}

void transfer(const Communicator& comm, const DeviceExchange& exchange, const LeafTransfer& leaves,
              DeviceParticles& particles) {
  const Count most = comm.max(std::max(leaves.plan().send_total(), leaves.plan().receive_total()));
  const auto columns = particles.columns();
  for (std::size_t begin = 0; begin < columns.size();) {
    const std::size_t end = end_of_group(columns, begin, most);
    transfer(exchange, leaves, columns.subspan(begin, end - begin));
    begin = end;
  }
  particles.set_size(leaves.size());
}

}  // namespace grove
