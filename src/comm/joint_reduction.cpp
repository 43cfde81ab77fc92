#include "comm/joint_reduction.hpp"

#include <algorithm>
#include <cstring>

#include "comm/block_reduction.hpp"

namespace grove {
namespace {

/// A block is the number of sums, the sums, and the maxima, all of 64 bits.
void combine_words(const std::byte* other, std::byte* result, std::size_t bytes) {
  const auto* from = reinterpret_cast<const std::uint64_t*>(other);
  auto* to = reinterpret_cast<std::uint64_t*>(result);
  const std::size_t words = bytes / sizeof(std::uint64_t), sums = 1 + to[0];
  for (std::size_t i = 1; i < sums; ++i) to[i] += from[i];
  for (std::size_t i = sums; i < words; ++i) to[i] = std::max(to[i], from[i]);
}

}  // namespace

void JointReduction::apply(const Communicator& comm) {
  std::vector<std::uint64_t> block{sums_.values.size()};
  for (const Words* words : {&sums_, &maxima_})
    block.insert(block.end(), words->values.begin(), words->values.end());
  reduce_block(comm, combine_elements<combine_words>, std::as_writable_bytes(std::span(block)));
  const std::uint64_t* next = block.data() + 1;
  for (const Words* words : {&sums_, &maxima_})
    for (const auto& fetch : words->fetch) next = fetch(next);
}

}  // namespace grove
