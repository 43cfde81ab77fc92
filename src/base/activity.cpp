#include "base/activity.hpp"

namespace grove {

Activity& activity() {
  static Activity all;
  return all;
}

}  // namespace grove
