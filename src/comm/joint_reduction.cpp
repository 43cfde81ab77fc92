#include "comm/joint_reduction.hpp"

#include <algorithm>
#include <initializer_list>

#include "comm/block_reduction.hpp"

namespace grove {
namespace {

constexpr std::size_t head = 2;  // words

/// A block is the numbers of sums and of exclusive ors, these, and the maxima, all of 64 bits.
void combine_words(const std::byte* other, std::byte* result, std::size_t bytes) {
  const auto* from = reinterpret_cast<const std::uint64_t*>(other);
  auto* to = reinterpret_cast<std::uint64_t*>(result);
  const std::size_t words = bytes / sizeof(std::uint64_t), sums_end = head + to[0],
                    ors_end = sums_end + to[1];
  for (std::size_t i = head; i < sums_end; ++i) to[i] += from[i];
  for (std::size_t i = sums_end; i < ors_end; ++i) to[i] ^= from[i];
  for (std::size_t i = ors_end; i < words; ++i) to[i] = std::max(to[i], from[i]);
}

}  // namespace

void JointReduction::apply(const Communicator& comm) {
  const std::initializer_list<const Words*> kinds = {&sums_, &exclusive_ors_, &maxima_};
  std::vector<std::uint64_t> block{sums_.values.size(), exclusive_ors_.values.size()};
  for (const Words* words : kinds) block.insert(block.end(), words->values.begin(), words->values.end());
  reduce_block(comm, combine_elements<combine_words>, std::as_writable_bytes(std::span(block)));
  const std::uint64_t* next = block.data() + head;
  for (const Words* words : kinds)
    for (const auto& fetch : words->fetch) next = fetch(next);
}

}  // namespace grove
