#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "comm/communicator.hpp"

namespace grove {

/// The scales on which the terms of exact sums are integers.
class SumScales {
 public:
  SumScales(std::size_t sums, Count most_terms);

  /// Counts a term of this rank towards the scale of its sum.
  void include(std::size_t sum, double term) {
    const double size = std::abs(term);  // a NaN counts as infinite: MPI_MAX may drop it
    Scale& scale = of_[sum];
    scale.largest = std::isnan(size) ? INFINITY : std::max(scale.largest, size);
  }
  /// Makes the scales the same on all ranks, which have included their terms. Collective.
  void agree(const Communicator& comm);
  /// A term as an integer; 0 in a sum that is not finite.
  std::int64_t rounded(std::size_t sum, double term) const {
    const Scale& scale = of_[sum];
    return std::isfinite(scale.largest) ? std::llrint(term * scale.factor * scale.rest) : 0;
  }
  /// The sums over all ranks of what they have added up. Collective.
  std::vector<double> added(const Communicator& comm, std::vector<std::int64_t> totals) const;

 private:
  /// A term x becomes the integer nearest to x 2^exponent, a power in two factors, as it may be out of range.
  struct Scale {
    double largest = 0, factor = 1, rest = 1;
    int exponent = 0;
  };
  std::vector<Scale> of_;
  int room_;  ///< bits of a term
};

/// Sums over all ranks of floating-point terms that do not depend on the order of the terms, nor on the rank
/// that holds them: the terms are rounded to integers on a scale common to all terms of a sum, and integers
/// are added.
///
/// The scale is the finest one with which `most_terms` terms as large as the largest one cannot overflow 62
/// bits, so a sum is exact to (number of terms) * (largest term) * most_terms * 2^-62.
///
/// terms: row-major, `sums` columns, one row per term of this rank; rows need not be equally many on all
/// ranks. most_terms: no sum has more terms, all ranks together; the same on all ranks. Result: length
/// `sums`, everywhere; not finite where a term is not. Collective. Cost: two reductions of `sums` numbers.
std::vector<double> exact_sums(const Communicator& comm, std::span<const double> terms, std::size_t sums,
                               Count most_terms);

/// The same of terms that need not be stored. visit(add) calls add(sum, term) for each term of this rank, in
/// any order, and the same ones both times that it is called.
template <class Visit>
std::vector<double> exact_sums_of(const Communicator& comm, const Visit& visit, std::size_t sums,
                                  Count most_terms) {
  SumScales scales(sums, most_terms);
  visit([&](std::size_t sum, double term) { scales.include(sum, term); });
  scales.agree(comm);
  std::vector<std::int64_t> total(sums, 0);
  visit([&](std::size_t sum, double term) { total[sum] += scales.rounded(sum, term); });
  return scales.added(comm, std::move(total));
}

}  // namespace grove
