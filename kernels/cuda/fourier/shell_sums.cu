#include "kernels/cuda/fourier/shell_sums.hpp"

#include <algorithm>
#include <span>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {
namespace {

constexpr int most_copies = 64;
constexpr int most_totals = 1 << 16;  ///< in all copies, if there are several

__device__ void add_count(std::int64_t& sum, std::int64_t count) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(count));
}

__device__ void add_term(WideSum& sum, double term) {
  WideSum::split(term, [&](int limb, std::int64_t count) { add_count(sum.limb[limb], count); });
}

__global__ void __launch_bounds__(threads)
    add_modes(const ModeShells shells, int y, const FieldMode* plain, const FieldMode* shifted, int copies,
              ShellTotals* totals) {
  const int n = shells.points, half = n / 2 + 1;
  const std::int64_t i = blockIdx.x * std::int64_t{threads} + threadIdx.x;
  if (i >= std::int64_t{n} * half) return;
  const int place = static_cast<int>(i / half), z = static_cast<int>(i % half);
  ShellTotals* const own = totals + (blockIdx.x % static_cast<unsigned>(copies)) * shells.count();
  shells.terms(place <= n / 2 ? place : place - n, y, z, plain[i],
               shells.interlaced ? shifted[i] : FieldMode{},
               [&](int shell, int modes, double wavenumber, double power, double noise) {
                 add_count(own[shell].modes, modes);
                 add_term(own[shell].wavenumber, wavenumber);
                 add_term(own[shell].power, power);
                 add_term(own[shell].noise, noise);
               });
}

}  // namespace

ShellSums::ShellSums(const ModeShells& shells)
    : shells_(shells), copies_(std::clamp(most_totals / std::max(1, shells.count()), 1, most_copies)) {
  const auto of_axis = static_cast<std::size_t>(shells.points / 2 + 1);
  const auto of_sums = static_cast<std::size_t>(shells.last_sum() - shells.least_sum() + 1);
  const std::size_t window = tables_.add(std::span(shells.window, of_axis)),
                    images = tables_.add(std::span(shells.images, of_axis)),
                    alternating = tables_.add(std::span(shells.alternating, of_axis)),
                    turn = tables_.add(std::span(shells.turn, of_sums));
  tables_.go();
  shells_.window = tables_.at<double>(window);
  shells_.images = tables_.at<double>(images);
  shells_.alternating = tables_.at<double>(alternating);
  shells_.turn = tables_.at<FieldMode>(turn);
  totals_ =
      DeviceArray<ShellTotals>(static_cast<std::size_t>(copies_) * static_cast<std::size_t>(shells.count()));
  totals_.clear();
}

double ShellSums::bytes(int points) {
  return sizeof(ShellTotals) * (most_totals + 0.5 * points) + 100. * points;
}

void ShellSums::add_row(int y, const FieldMode* plain, const FieldMode* shifted) {
  const std::uint64_t modes =
      static_cast<std::uint64_t>(shells_.points) * static_cast<std::uint64_t>(shells_.points / 2 + 1);
  add_modes<<<blocks_for(modes), threads, 0, stream()>>>(shells_, y, plain, shifted, copies_, totals_.data());
  launched("Grove::cuda::add_modes", 16 * modes * (shells_.interlaced ? 2 : 1));
}

std::vector<ShellTotals> ShellSums::totals() const {
  const auto count = static_cast<std::size_t>(shells_.count());
  std::vector<ShellTotals> all(totals_.size()), sums(count);
  totals_.download(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ShellTotals& sum = sums[i % count];
    sum.modes += all[i].modes;
    for (WideSum ShellTotals::*quantity :
         {&ShellTotals::wavenumber, &ShellTotals::power, &ShellTotals::noise})
      for (int limb = 0; limb < WideSum::limbs; ++limb)
        (sum.*quantity).limb[limb] += (all[i].*quantity).limb[limb];
  }
  return sums;
}

}  // namespace grove::cuda
