#pragma once

#include "kernels/host/bisection_avx512.hpp"

namespace grove::bisection {

/// The passes in the best form for the instruction set that is compiled for.
#ifdef GROVE_BISECTION_AVX512
using Native = Avx512;
#else
using Native = Portable;
#endif

}  // namespace grove::bisection
