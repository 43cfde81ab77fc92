#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "comm/communicator.hpp"

namespace grove {

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

/// Calls add(sum, term) for each term of this rank, in any order, and the same terms whenever it is called.
using VisitTerms = std::function<void(const std::function<void(std::size_t sum, double term)>& add)>;
/// The same of terms that need not be stored: visit is called twice.
std::vector<double> exact_sums(const Communicator& comm, const VisitTerms& visit, std::size_t sums,
                               Count most_terms);

}  // namespace grove
