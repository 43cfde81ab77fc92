#pragma once

#include <mpi.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/types.hpp"
#include "comm/counted.hpp"
#include "comm/mpi_check.hpp"
#include "comm/tags.hpp"

namespace grove {

/// Types that can be sent as bytes.
template <class T>
concept Wire = std::is_trivially_copyable_v<T>;

/// MPI's type of an integer.
template <std::integral T>
MPI_Datatype mpi_type() {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? MPI_INT32_T : MPI_UINT32_T;
  return std::is_signed_v<T> ? MPI_INT64_T : MPI_UINT64_T;
}

/// An MPI communicator of its own (duplicated from the given one, freed at the end of its life), whose errors
/// come as exceptions. Collective calls must be made by all ranks in the same order; activity() counts them.
///
/// Sums are offered for integers only: their result does not depend on the order, so not on the number of
/// ranks.
class Communicator {
 public:
  explicit Communicator(MPI_Comm source);
  ~Communicator();
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&&) = delete;

  /// Collective. A communicator of those ranks that give the same group, in the same order.
  Communicator split(int group) const;

  /// Collective. This rank's place among those of its host.
  int rank_on_host() const;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_master() const { return rank_ == 0; }
  MPI_Comm get() const { return comm_; }

  void barrier() const {
    count_collective(0);
    GROVE_MPI(MPI_Barrier(comm_));
  }

  /// Reductions over ranks, element by element, result everywhere.
  template <std::integral T>
  T sum(T value) const {
    return reduced(value, MPI_SUM);
  }
  template <std::integral T>
  T exclusive_or(T value) const {
    return reduced(value, MPI_BXOR);
  }
  template <class T>
  requires std::is_arithmetic_v<T> T min(T value)
  const { return reduced(value, MPI_MIN); }
  template <class T>
  requires std::is_arithmetic_v<T> T max(T value)
  const { return reduced(value, MPI_MAX); }
  template <std::integral T>
  void sum(std::span<T> values) const {
    reduce(values, MPI_SUM);
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void min(std::span<T> values) const { reduce(values, MPI_MIN); }
  template <class T>
  requires std::is_arithmetic_v<T>
  void max(std::span<T> values) const { reduce(values, MPI_MAX); }

  /// Sum of the values on lower ranks (0 on rank 0).
  template <std::integral T>
  T exclusive_scan(T value) const {
    T result = 0;
    count(sizeof(T));
    GROVE_MPI(MPI_Exscan(&value, &result, 1, mpi_type<T>(), MPI_SUM, comm_));
    return is_master() ? T{0} : result;
  }

  /// One value of every rank, in rank order, everywhere.
  template <Wire T>
  std::vector<T> all_gather(const T& value) const {
    std::vector<T> result(static_cast<std::size_t>(size_));
    count(sizeof(T));
    GROVE_MPI(MPI_Allgather(&value, sizeof(T), MPI_BYTE, result.data(), sizeof(T), MPI_BYTE, comm_));
    return result;
  }

  /// The arrays of all ranks, joined in rank order, everywhere. At most 2^31 elements in all.
  template <Wire T>
  std::vector<T> all_gather_arrays(std::span<const T> values) const {
    std::vector<T> result;
    gather_elements(values.data(), values.size(), sizeof(T),
                    [&](std::size_t n) { return result.resize(n), static_cast<void*>(result.data()); });
    return result;
  }

  /// The same in one message where each rank has at most `few` elements, else in two.
  template <Wire T>
  std::vector<T> all_gather_few(std::span<const T> values, std::size_t few) const {
    return gather_few(values, static_cast<Count>(values.size()), few).values;
  }

  /// Values of all ranks, rank by rank, and how many each has.
  template <Wire T>
  struct Gathered {
    std::vector<T> values;
    std::vector<Count> counts;
  };

  /// The same where every rank knows how many elements each has. counts: length P.
  template <Wire T>
  std::vector<T> all_gather_arrays(std::span<const T> values, std::span<const Count> counts) const {
    std::vector<T> result;
    gather_known(values.data(), counts, sizeof(T),
                 [&](std::size_t n) { return result.resize(n), static_cast<void*>(result.data()); });
    return result;
  }

  /// The root's value, everywhere.
  template <Wire T>
  T broadcast(T value, int root = 0) const {
    broadcast_bytes(std::as_writable_bytes(std::span(&value, 1)), root);
    return value;
  }
  std::string broadcast(const std::string& text, int root = 0) const;
  /// The root's bytes take the place of all others. The same number on all ranks, at most 2^31.
  void broadcast_bytes(std::span<std::byte> bytes, int root = 0) const;

  /// Runs `work` on every rank and agrees on the outcome: if it throws on any rank, every rank throws the
  /// error of the lowest such rank, of the same kind (InputError, Stopped, std::runtime_error). `work` must
  /// not communicate. So a fault seen by one rank ends all of them instead of leaving the others waiting.
  void together(const std::function<void()>& work) const;
  /// The same of work with a result, 0 or more: those of all ranks, in rank order. Cost: the same.
  std::vector<Count> gather_together(const std::function<Count()>& work) const;
  /// The same of work with several results, in one message where each rank has at most `few`, else in two.
  template <Wire T>
  Gathered<T> gather_few_together(const std::function<std::vector<T>()>& work, std::size_t few) const {
    std::vector<T> own;
    Gathered<T> all;
    agree_on([&] { own = work(); },
             [&](bool is_fine) {
               all = gather_few(std::span<const T>(own), is_fine ? static_cast<Count>(own.size()) : failed,
                                few);
               return all.counts;
             });
    return all;
  }

  /// True, false, true, ... from call to call: for collective work whose messages must not be mixed up with
  /// those of the same work done next.
  bool alternates() const { return is_even_ = !is_even_; }

  /// Counts a collective call, in which this rank gives the others, if there are any, so many bytes.
  void count(std::size_t bytes) const { count_collective(size_ > 1 ? bytes : 0); }

 private:
  static constexpr Count failed = -1;

  /// Runs work, and tells all ranks how it ended: tell() gives the numbers of all, failed for those where it
  /// did.
  void agree_on(const std::function<void()>& work,
                const std::function<std::vector<Count>(bool is_fine)>& tell) const;

  /// all_gather_few(). number: of the values, or failed; if it is that anywhere, nothing else is worth
  /// anything.
  template <Wire T>
  Gathered<T> gather_few(std::span<const T> values, Count number, std::size_t few) const {
    const std::size_t room = sizeof(Count) + few * sizeof(T);
    std::vector<std::byte> own(room), all(room * static_cast<std::size_t>(size_));
    std::memcpy(own.data(), &number, sizeof(number));
    if (!values.empty())
      std::memcpy(own.data() + sizeof(number), values.data(), std::min(few, values.size()) * sizeof(T));
    count(room);
    GROVE_MPI(MPI_Allgather(own.data(), static_cast<int>(room), MPI_BYTE, all.data(), static_cast<int>(room),
                            MPI_BYTE, comm_));
    Gathered<T> result{{}, std::vector<Count>(static_cast<std::size_t>(size_))};
    for (std::size_t rank = 0; rank < result.counts.size(); ++rank) {
      const std::byte* const from = all.data() + rank * room;
      std::memcpy(&result.counts[rank], from, sizeof(Count));
      const auto some = std::min(few, static_cast<std::size_t>(std::max(result.counts[rank], Count{0})));
      result.values.resize(result.values.size() + some);
      if (some > 0)
        std::memcpy(result.values.data() + result.values.size() - some, from + sizeof(Count),
                    some * sizeof(T));
    }
    const auto [least, most] = std::minmax_element(result.counts.begin(), result.counts.end());
    if (*least != failed && *most > static_cast<Count>(few))
      result.values = all_gather_arrays(values, std::span<const Count>(result.counts));
    return result;
  }

  template <class T>
  static MPI_Datatype number_type() {
    if constexpr (std::is_same_v<T, double>)
      return MPI_DOUBLE;
    else if constexpr (std::is_same_v<T, float>)
      return MPI_FLOAT;
    else
      return mpi_type<T>();
  }
  template <class T>
  T reduced(T value, MPI_Op op) const {
    reduce(std::span<T>(&value, 1), op);
    return value;
  }
  template <class T>
  void reduce(std::span<T> values, MPI_Op op) const {
    constexpr std::size_t most = std::size_t{1} << 30;
    for (std::size_t first = 0; first < values.size(); first += most) {
      const std::size_t some = std::min(most, values.size() - first);
      count(some * sizeof(T));
      GROVE_MPI(MPI_Allreduce(MPI_IN_PLACE, values.data() + first, static_cast<int>(some), number_type<T>(),
                              op, comm_));
    }
  }
  void gather_elements(const void* data, std::size_t count, std::size_t element_size,
                       const std::function<void*(std::size_t)>& resize) const;
  void gather_known(const void* data, std::span<const Count> counts, std::size_t element_size,
                    const std::function<void*(std::size_t)>& resize) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  mutable bool is_even_ = false;
};

}  // namespace grove
