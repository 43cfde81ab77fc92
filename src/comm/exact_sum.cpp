#include "comm/exact_sum.hpp"

#include <bit>

namespace grove {

SumScales::SumScales(std::size_t sums, Count most_terms)
    : of_(sums), room_(62 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most_terms)))) {}

void SumScales::agree(const Communicator& comm) {
  std::vector<double> largest;
  for (const Scale& scale : of_) largest.push_back(scale.largest);
  comm.max(std::span<double>(largest));
  for (std::size_t sum = 0; sum < of_.size(); ++sum) {
    Scale& scale = of_[sum];
    scale.largest = largest[sum];
    if (std::isfinite(scale.largest) && scale.largest > 0)
      scale.exponent = room_ - 1 - std::ilogb(scale.largest);
    scale.factor = std::ldexp(1.0, scale.exponent / 2);
    scale.rest = std::ldexp(1.0, scale.exponent - scale.exponent / 2);
  }
}

std::vector<double> SumScales::added(const Communicator& comm, std::vector<std::int64_t> totals) const {
  comm.sum(std::span<std::int64_t>(totals));
  std::vector<double> sums;
  for (std::size_t sum = 0; sum < of_.size(); ++sum)
    sums.push_back(std::isfinite(of_[sum].largest)
                       ? std::ldexp(static_cast<double>(totals[sum]), -of_[sum].exponent)
                       : INFINITY);
  return sums;
}

std::vector<double> exact_sums(const Communicator& comm, std::span<const double> terms, std::size_t sums,
                               Count most_terms) {
  const auto visit = [&](const auto& add) {
    for (std::size_t i = 0; i < terms.size(); ++i) add(i % sums, terms[i]);
  };
  return exact_sums_of(comm, visit, sums, most_terms);
}

}  // namespace grove
