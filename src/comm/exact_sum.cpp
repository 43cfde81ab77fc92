#include "comm/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace grove {

namespace {

/// visit(add): calls add(sum, term) for each term.
template <class Visit>
std::vector<double> sums_of(const Communicator& comm, const Visit& visit, std::size_t sums,
                            Count most_terms) {
  std::vector<double> largest(sums, 0.0);
  visit([&](std::size_t sum, double term) {
    const double size = std::abs(term);  // a NaN counts as infinite: MPI_MAX may drop it
    largest[sum] = std::isnan(size) ? INFINITY : std::max(largest[sum], size);
  });
  comm.max(std::span<double>(largest));

  const int room = 62 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most_terms)));
  std::vector<int> exponent(sums, 0);  // a term x becomes the integer nearest to x 2^exponent
  for (std::size_t s = 0; s < sums; ++s)
    if (std::isfinite(largest[s]) && largest[s] > 0) exponent[s] = room - 1 - std::ilogb(largest[s]);

  std::vector<std::int64_t> total(sums, 0);
  visit([&](std::size_t sum, double term) {
    if (std::isfinite(largest[sum])) total[sum] += std::llrint(std::ldexp(term, exponent[sum]));
  });
  comm.sum(std::span<std::int64_t>(total));

  std::vector<double> result(sums);
  for (std::size_t s = 0; s < sums; ++s)
    result[s] =
        std::isfinite(largest[s]) ? std::ldexp(static_cast<double>(total[s]), -exponent[s]) : INFINITY;
  return result;
}

}  // namespace

std::vector<double> exact_sums(const Communicator& comm, std::span<const double> terms, std::size_t sums,
                               Count most_terms) {
  const auto visit = [&](const auto& add) {
    for (std::size_t i = 0; i < terms.size(); ++i) add(i % sums, terms[i]);
  };
  return sums_of(comm, visit, sums, most_terms);
}

std::vector<double> exact_sums(const Communicator& comm, const VisitTerms& visit, std::size_t sums,
                               Count most_terms) {
  return sums_of(comm, visit, sums, most_terms);
}

}  // namespace grove
