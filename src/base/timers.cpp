#include "base/timers.hpp"

#include <fmt/format.h>

namespace grove {

std::string level_name(std::size_t depth) { return fmt::format("{:02}", depth); }

}  // namespace grove
