#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace grove::test {

/// Makes a rank fail: it throws, exits, or hangs.
inline void fault(std::string_view kind) {
  if (kind == "throw") throw std::runtime_error("a fault on purpose");
  if (kind == "exit") {
    std::fputs("exits on purpose\n", stderr);
    std::_Exit(1);
  }
  while (true) pause();
}

}  // namespace grove::test
