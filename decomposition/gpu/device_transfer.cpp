#include "decomposition/gpu/device_transfer.hpp"

#include <utility>

namespace grove {

void transfer(const DeviceExchange& exchange, const LeafTransfer& leaves, const void* values, void* moved,
              std::size_t element_size) {
  const auto bytes = [&](std::size_t elements) { return elements * element_size; };
  const auto sent = static_cast<std::size_t>(leaves.plan().send_total()),
             received = static_cast<std::size_t>(leaves.plan().receive_total());
  const std::size_t before = leaves.departing_before(), staying = leaves.staying(),
                    arriving = leaves.arriving_before();
  const auto* const from = static_cast<const std::byte*>(values);
  auto* const to = static_cast<std::byte*>(moved);
  const cuda::DeviceArray<std::byte> departing(bytes(sent)), arrived(bytes(received));
  cuda::device_copy(departing.data(), from, bytes(before));
  cuda::device_copy(departing.data() + bytes(before), from + bytes(before + staying), bytes(sent - before));
  exchange.apply(leaves.plan(), departing.data(), arrived.data(), element_size);
  cuda::device_copy(to, arrived.data(), bytes(arriving));
  cuda::device_copy(to + bytes(arriving), from + bytes(before), bytes(staying));
  cuda::device_copy(to + bytes(arriving + staying), arrived.data() + bytes(arriving),
                    bytes(received - arriving));
}

void transfer(const DeviceExchange& exchange, const LeafTransfer& leaves, DeviceParticles& particles) {
  for (DeviceParticles::Column& column : particles.columns()) {
    cuda::DeviceArray<std::byte> moved(leaves.size() * column.element_size);
    if (column.info.migrate)
      transfer(exchange, leaves, column.values.data(), moved.data(), column.element_size);
    column.values = std::move(moved);
  }
  particles.set_size(leaves.size());
}

}  // namespace grove
