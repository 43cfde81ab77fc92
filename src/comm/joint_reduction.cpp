#include "comm/joint_reduction.hpp"

#include <algorithm>

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

std::vector<std::uint64_t> JointReduction::packed() const {
  std::vector<std::uint64_t> block{sums_.values.size(), exclusive_ors_.values.size()};
  for (const Words* words : {&sums_, &exclusive_ors_, &maxima_})
    block.insert(block.end(), words->values.begin(), words->values.end());
  return block;
}

void JointReduction::put(const std::vector<std::uint64_t>& block) const {
  const std::uint64_t* next = block.data() + head;
  for (const Words* words : {&sums_, &exclusive_ors_, &maxima_})
    for (const auto& fetch : words->fetch) next = fetch(next);
}

void JointReduction::apply(const Communicator& comm) {
  std::vector<std::uint64_t> block = packed();
  reduce_block(comm, combine_elements<combine_words>, std::as_writable_bytes(std::span(block)));
  put(block);
}

bool JointReduction::apply_if(const Communicator& comm, bool is_ready) {
  std::vector<std::uint64_t> block = packed();
  block.push_back(is_ready ? 0 : 1);  // one more maximum
  reduce_block(comm, combine_elements<combine_words>, std::as_writable_bytes(std::span(block)));
  if (block.back() != 0) return false;
  put(block);
  return true;
}

}  // namespace grove
