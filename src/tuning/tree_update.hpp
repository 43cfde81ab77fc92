#pragma once

namespace grove {

/// The work on the trees before a step.
enum class TreeUpdate {
  refit,        ///< nodes are moved and resized
  renew,        ///< the same, but those trees are cut anew that TreeRenewal takes
  redecompose,  ///< new cuts of the ORB and new trees in its leaves
};

}  // namespace grove
