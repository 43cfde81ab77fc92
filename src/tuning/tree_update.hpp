#pragma once

namespace grove {

/// The work on the trees before a step.
enum class TreeUpdate {
  refit,        ///< nodes are moved and resized
  redecompose,  ///< new cuts of the ORB and new trees in its leaves
};

}  // namespace grove
