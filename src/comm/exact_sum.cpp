#include "comm/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace grove {

std::vector<double> exact_sums(const Communicator& comm, std::span<const double> terms, std::size_t sums,
                               Count most_terms) {
  std::vector<double> largest(sums, 0.0);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double size = std::abs(terms[i]);  // a NaN counts as infinite: MPI_MAX may drop it
    largest[i % sums] = std::isnan(size) ? INFINITY : std::max(largest[i % sums], size);
  }
  comm.max(std::span<double>(largest));

  const int room = 62 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most_terms)));
  std::vector<int> exponent(sums, 0);  // a term x becomes the integer nearest to x 2^exponent
  for (std::size_t s = 0; s < sums; ++s)
    if (std::isfinite(largest[s]) && largest[s] > 0) exponent[s] = room - 1 - std::ilogb(largest[s]);

  std::vector<std::int64_t> total(sums, 0);
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (std::isfinite(largest[i % sums]))
      total[i % sums] += std::llrint(std::ldexp(terms[i], exponent[i % sums]));
  comm.sum(std::span<std::int64_t>(total));

  std::vector<double> result(sums);
  for (std::size_t s = 0; s < sums; ++s)
    result[s] =
        std::isfinite(largest[s]) ? std::ldexp(static_cast<double>(total[s]), -exponent[s]) : INFINITY;
  return result;
}

}  // namespace grove
