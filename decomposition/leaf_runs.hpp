#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"

/// Leaves here are those of CutRule::middle, or whole cells (WholeCells), of which there are fewer; they
/// stand rank by rank, so that runs are rank by rank, too.
namespace grove {

/// The most that a rank gets for its speed, over the mean of all ranks. Memory asks for a bound: a run that
/// fits into the memory of equal ranks is not to end because most of them were slow for a while. Not
/// twice the mean, which on two ranks is everything; with half as much again, one of two may still be three
/// times as fast as the other.
constexpr double most_of_mean = 1.5;

/// Seconds of the rank that takes longest. work: by leaf; runs: first leaf of each rank, length P + 1;
/// speeds: work per second of each rank, positive.
double longest_time(std::span<const Count> work, std::span<const std::int32_t> runs,
                    std::span<const double> speeds);

/// Runs of leaves whose longest time is within half a per cent of the least that there can be if no rank gets
/// more than most_of_mean times its equal share of the particles, or than it has now, if that is more; of
/// such runs, ends are where they are now, or as near as that allows. particles: by leaf; current: the runs
/// that there are; arguments as above. Cost: O(leaves + P log leaves).
std::vector<std::int32_t> runs_of_least_time(std::span<const Count> work, std::span<const Count> particles,
                                             std::span<const std::int32_t> current,
                                             std::span<const double> speeds);

/// The speeds, those of the fastest ranks lowered to most_of_mean times the mean of the result, so that
/// shares in their ratio are bounded. Cost: O(P log P).
std::vector<double> bounded_speeds(std::span<const double> speeds);

/// The most that one of the ranks gives and takes together. amount: by leaf.
Count most_moved(std::span<const Count> amount, std::span<const std::int32_t> from,
                 std::span<const std::int32_t> to);

}  // namespace grove
