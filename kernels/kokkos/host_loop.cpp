#include "kernels/kokkos/host_loop.hpp"

#include <Kokkos_Core.hpp>

namespace grove {

void run_host_loop(const char* label, std::size_t count, HostBody body) {
  using Space = Kokkos::DefaultHostExecutionSpace;
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>>(0, count),
                       [=](const std::size_t i) { body.call(body.body, i); });
  Space().fence();
}

}  // namespace grove
