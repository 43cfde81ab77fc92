#pragma once

#include "kernels/math/far_images.hpp"

namespace grove {

/// The expansion of what far images do (FarField), from the moments of a box.
///
/// Moments of orders above those that are given are taken to be those of a homogeneous cube of the same mass,
/// to order 14, so that nearly homogeneous boxes need few. Cost: some ten thousand operations.
FarField<far_order> far_field(const BoxMoments<far_moments>& box);
/// The same to the orders that an audit takes.
FarField<audit_far_order> far_field(const BoxMoments<audit_far_moments>& box);

/// T_l0, T_l4, T_l8, ... of l = 4, 6, 8, ...: sums of the irregular solid harmonics (l - m)! P_lm e^(i m phi)
/// / r^(l+1) over all places of whole numbers with |n|max > 1; the others are 0, and all are real. They do
/// not converge by themselves at l = 2: there is none, as the homogeneous density has taken it away.
class LatticeSums {
 public:
  static constexpr int largest = audit_far_order + audit_far_moments;
  /// The same on all ranks. Made once, in some 10 ms.
  static const LatticeSums& get();
  /// Any l <= largest, |m| <= l.
  double operator()(int l, int m) const {
    return l < 4 || l % 2 != 0 || m % 4 != 0 ? 0 : sums_[l / 2][(m < 0 ? -m : m) / 4];
  }

 private:
  static constexpr int rows = largest / 2 + 1, columns = largest / 4 + 1;
  LatticeSums();
  double sums_[rows][columns] = {};
};

}  // namespace grove
