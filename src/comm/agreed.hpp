#pragma once

#include <optional>
#include <utility>

#include "comm/communicator.hpp"

namespace grove {

/// Collective. Returns what `make` makes on this rank, or throws the error of the lowest rank that has one,
/// on all ranks together.
template <class Make>
auto agreed(const Communicator& comm, const Make& make) {
  std::optional<decltype(make())> made;
  comm.together([&] { made = make(); });
  return *std::move(made);
}

}  // namespace grove
