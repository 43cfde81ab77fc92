#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/array.hpp"
#include "comm/block_reduction.hpp"

/// A service: what the master asks of all ranks at once. The call descends the processor-set tree, `run`
/// works on each rank's own data, of any type Own that it knows (a rank's particles in the memory of the
/// host, or of a GPU), and the answers are combined on the way back.
///
///   struct CountCells {
///     static constexpr std::string_view name = "count";
///     struct Input {...};   // wire structs: an array of inputs, one per cell, goes to every rank
///     struct Output {...};  // an array of outputs comes back
///     static void run(Own&, std::span<const Input>, std::span<Output> answer);
///     static void combine(Output& answer, const Output& other);
///   };
///
/// The answer has one output per input, or `answer_size(inputs)` if the service defines that; it comes zeroed
/// to `run`. A service without `combine` gathers: its `run` fills a vector of any length, and the vectors are
/// joined in rank order.
namespace grove {

using Bytes = Array<std::byte>;

template <class S>
concept Service = Wire<typename S::Input> && Wire<typename S::Output> && requires {
  { S::name } -> std::convertible_to<std::string_view>;
};

template <class S>
concept CombiningService = Service<S> &&
    requires(typename S::Output& answer, const typename S::Output& other) {
  S::combine(answer, other);
};

/// A service with its types erased, bound to a rank's own data: what transports handle.
struct ServiceEntry {
  /// Length of the answer in bytes; of a service that gathers, 0.
  using Size = std::size_t (*)(std::span<const std::byte> input);
  /// Fills an answer that comes zeroed and of that length. Throws what the service throws; the answer of a
  /// service that combines keeps its length.
  using Run = std::function<void(std::span<const std::byte> input, Bytes& answer)>;
  using Combine = void (*)(Bytes& answer, std::span<const std::byte> other);

  std::string_view name;
  Size answer_bytes;
  Run run;
  Combine combine;
  /// Combines two answers behind their AnswerHeaders; nullptr: the service gathers.
  MPI_User_function* reduce;
};

/// The head of an answer on its way: whether a rank below failed.
struct AnswerHeader {
  std::int64_t failed;
};

namespace detail {

template <class T>
std::span<const T> as(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <CombiningService S>
std::size_t answer_size(std::span<const typename S::Input> input) {
  if constexpr (requires { S::answer_size(input); })
    return S::answer_size(input);
  else
    return input.size();
}

template <Service S>
std::size_t answer_bytes(std::span<const std::byte> input) {
  if constexpr (CombiningService<S>)
    return answer_size<S>(as<typename S::Input>(input)) * sizeof(typename S::Output);
  else
    return 0;
}

template <Service S, class Own>
void run(Own& own, std::span<const std::byte> input, Bytes& answer) {
  using Output = typename S::Output;
  const auto inputs = as<typename S::Input>(input);
  if constexpr (CombiningService<S>) {
    const std::size_t size = answer.size() / sizeof(Output);
    S::run(own, inputs, std::span<Output>(reinterpret_cast<Output*>(answer.data()), size));
  } else {
    std::vector<Output> outputs;
    S::run(own, inputs, outputs);
    answer.resize(outputs.size() * sizeof(Output));
    if (!outputs.empty()) std::memcpy(answer.data(), outputs.data(), answer.size());
  }
}

template <CombiningService S>
void combine_each(std::byte* answer, const std::byte* other, std::size_t bytes) {
  using Output = typename S::Output;
  auto* into = reinterpret_cast<Output*>(answer);
  const auto* from = reinterpret_cast<const Output*>(other);
  for (std::size_t i = 0; i < bytes / sizeof(Output); ++i) S::combine(into[i], from[i]);
}

template <Service S>
void combine(Bytes& answer, std::span<const std::byte> other) {
  if constexpr (CombiningService<S>)
    combine_each<S>(answer.data(), other.data(), other.size());
  else
    answer.insert(answer.end(), other.begin(), other.end());
}

/// A block is header and answer.
template <CombiningService S>
void reduce(const std::byte* other, std::byte* answer, std::size_t bytes) {
  reinterpret_cast<AnswerHeader*>(answer)->failed |= reinterpret_cast<const AnswerHeader*>(other)->failed;
  combine_each<S>(answer + sizeof(AnswerHeader), other + sizeof(AnswerHeader), bytes - sizeof(AnswerHeader));
}

}  // namespace detail

/// own must outlive the entry.
template <Service S, class Own>
ServiceEntry service_entry(Own& own) {
  static_assert(alignof(typename S::Output) <= alignof(AnswerHeader));
  const auto run = [&own](std::span<const std::byte> input, Bytes& answer) {
    detail::run<S>(own, input, answer);
  };
  if constexpr (CombiningService<S>)
    return {S::name, detail::answer_bytes<S>, run, detail::combine<S>, combine_elements<detail::reduce<S>>};
  else
    return {S::name, detail::answer_bytes<S>, run, detail::combine<S>, nullptr};
}

}  // namespace grove
