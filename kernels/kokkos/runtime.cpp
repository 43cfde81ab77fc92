#include "kernels/kokkos/runtime.hpp"

#include <Kokkos_Core.hpp>

namespace grove {

KokkosRuntime::KokkosRuntime() { Kokkos::initialize(); }
KokkosRuntime::~KokkosRuntime() { Kokkos::finalize(); }

std::string host_space_name() { return Kokkos::DefaultHostExecutionSpace::name(); }

}  // namespace grove
