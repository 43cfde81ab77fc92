#include "base/build_info.hpp"

namespace grove {

const BuildInfo& build_info() {
  static constexpr BuildInfo info{GROVE_VERSION, GROVE_COMMIT, GROVE_BUILD_TYPE, GROVE_COMPILER,
                                  GROVE_CUDA_VERSION};
  return info;
}

}  // namespace grove
