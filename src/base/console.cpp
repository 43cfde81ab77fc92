#include "base/console.hpp"

namespace grove {
namespace {

Verbosity chosen_verbosity = Verbosity::normal;

}  // namespace

Verbosity verbosity() { return chosen_verbosity; }
void set_verbosity(Verbosity verbosity) { chosen_verbosity = verbosity; }

}  // namespace grove
