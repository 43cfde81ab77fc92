#include "kernels/kokkos/particle_loops.hpp"

#include <Kokkos_Core.hpp>

namespace grove {
namespace {

template <class Body>
void run_on_host(const char* label, std::size_t count, const Body& body) {
  using Space = Kokkos::DefaultHostExecutionSpace;
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Space>(0, count), body);
  Space().fence();
}

}  // namespace

void run(std::size_t count, const ChooseRungBody& body) {
  run_on_host("Grove::time::choose_rungs", count, body);
}
void run(std::size_t count, const ExternalBody& body) { run_on_host("Grove::let::external", count, body); }
void run(std::size_t count, const KickBody& body) { run_on_host("Grove::time::kick", count, body); }
void run(std::size_t count, const DriftBody& body) { run_on_host("Grove::time::drift", count, body); }
void run(std::size_t count, const PredictBody& body) { run_on_host("Grove::time::predict", count, body); }

}  // namespace grove
