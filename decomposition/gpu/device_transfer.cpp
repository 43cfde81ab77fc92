#include "decomposition/gpu/device_transfer.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "decomposition/gpu/column_groups.hpp"

namespace grove {
namespace {

void copy(std::span<const LeafTransfer::Stretch> stretches, const void* from, void* to,
          std::size_t element_size) {
  for (const LeafTransfer::Stretch& part : stretches)
    cuda::device_copy(static_cast<std::byte*>(to) + part.to * element_size,
                      static_cast<const std::byte*>(from) + part.from * element_size,
                      part.count * element_size);
}

/// A copy of the elements that leave.
cuda::DeviceArray<std::byte> departing(const LeafTransfer& leaves, const void* values,
                                       std::size_t element_size) {
  cuda::DeviceArray<std::byte> packed(static_cast<std::size_t>(leaves.plan().send_total()) * element_size);
  copy(leaves.departing(), values, packed.data(), element_size);
  return packed;
}

/// Puts those that stay among those that have arrived.
void join(const LeafTransfer& leaves, const void* values, const cuda::DeviceArray<std::byte>& arrived,
          void* moved, std::size_t element_size) {
  copy(leaves.staying(), values, moved, element_size);
  copy(leaves.arriving(), arrived.data(), moved, element_size);
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
