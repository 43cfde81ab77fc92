#pragma once

namespace grove {

/// The sources and the compiler of this build.
struct BuildInfo {
  const char* version;  ///< "0.1.0"
  const char* commit;  ///< of git when the build was configured, "-dirty" with changes; "unknown" without git
  const char* build_type;  ///< "Release"
  const char* compiler;
  const char* cuda;  ///< version of the CUDA compiler; empty: built without
};

const BuildInfo& build_info();

}  // namespace grove
