#include "let/receivers.hpp"

#include <algorithm>
#include <bit>

namespace grove {

ReceiverSearch::ReceiverSearch(std::span<const LeafTargets> leaves, const WalkUnits& units,
                               const Images& images)
    : units_(units), images_(images) {
  std::copy_if(leaves.begin(), leaves.end(), std::back_inserter(leaves_),
               [](const LeafTargets& leaf) { return !leaf.are_none(); });
  const std::size_t first = std::bit_ceil(leaves_.size());
  wanted_.assign(first + leaves_.size(), Wanted::nothing());
  for (std::size_t i = 0; i < leaves_.size(); ++i) wanted_[first + i] = leaves_[i].wanted(units.length);
  for (std::size_t n = first; n-- > 1;)
    for (std::size_t child = 2 * n; child < std::min(2 * n + 2, wanted_.size()); ++child)
      wanted_[n] = Wanted::united_if_any(wanted_[n], wanted_[child]);
}

/// Calls take(leaf) for the leaves that may open it, in their order, until it says false.
template <class Take>
void ReceiverSearch::search(const Vec3d& centre, const NodeCore& core, const Ball& ball, bool is_inner,
                            const Take& take) const {
  const std::size_t first = wanted_.size() - leaves_.size();
  std::vector<std::size_t> stack = {1};
  while (!stack.empty()) {
    const std::size_t n = stack.back();
    stack.pop_back();
    if (n >= wanted_.size() || wanted_[n].is_nothing() ||
        !wanted_[n].may_open(centre, core, ball, is_inner, units_.length, images_))
      continue;
    if (n >= first) {
      if (!take(leaves_[n - first])) return;
      continue;
    }
    stack.push_back(2 * n + 1);
    stack.push_back(2 * n);
  }
}

bool ReceiverSearch::may_open(const Vec3d& centre, const NodeCore& core, const Ball& ball) const {
  bool any = false;
  search(centre, core, ball, true, [&](const LeafTargets&) { return any = true, false; });
  return any;
}

void ReceiverSearch::find(const Vec3d& centre, const NodeCore& core, const Ball& ball, const Vec3d& origin,
                          std::vector<Receiver>& receivers) const {
  receivers.clear();
  search(centre, core, ball, false, [&](const LeafTargets& leaf) {
    const Wanted wanted = leaf.wanted(units_.length);
    for (int image = 0; image < images_.count(); ++image) {
      const Vec3d shift = images_.shift(image);
      if (images_.are_open() ||
          wanted.may_open(centre + shift, core, ball.shifted(shift), false, units_.length, {}))
        receivers.push_back({leaf.bounds, shift_between(origin + shift, leaf.origin, units_)});
    }
    return true;
  });
}

}  // namespace grove
