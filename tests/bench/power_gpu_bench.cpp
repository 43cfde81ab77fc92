// A power spectrum measured by one GPU, or by each rank's, and by the host.
//
//   [mpirun -n RANKS] bench_power_gpu [SITES [MESH [host]]]
//
// SITES (256): particles along an edge of a lattice, displaced by half a site at most, in the order of the
// lattice; a quarter of them in clumps instead. MESH (2 SITES): points along an edge. Seconds of two
// measurements with two meshes (interlaced) each, the first of which makes the plans of cuFFT; with `host`
// also of one by the host.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

#include "backend/backend.hpp"
#include "base/shares.hpp"
#include "comm/process.hpp"
#include "kernels/math/uniform_point.hpp"
#include "structure/power_spectrum.hpp"

namespace grove {
namespace {

struct Set {
  std::vector<Vec3d> position;
  std::vector<double> mass;

  Set(const Communicator& comm, int sites) {
    const Count all = Count{sites} * sites * sites;
    const Count first = share_begin(all, comm.rank(), comm.size()),
                last = share_begin(all, comm.rank() + 1, comm.size());
    const double site = 1.0 / sites;
    for (Count i = first; i < last; ++i) {
      const Vec3d u = uniform_point(1, static_cast<std::uint64_t>(i)) - Vec3d{0.5, 0.5, 0.5};
      const Count plane = Count{sites} * sites;
      const Vec3d at{static_cast<double>(i / plane), static_cast<double>(i / sites % sites),
                     static_cast<double>(i % sites)};
      const Vec3d clump = uniform_point(2, static_cast<std::uint64_t>(i) / 4096);
      position.push_back(i % 4 == 0 ? clump + 3 * site * u : site * (at + u));
      mass.push_back(1);
    }
  }
};

void measure(const Communicator& comm, const char* what, const Set& set, const PowerOptions& options,
             const PowerEstimator& estimator) {
  comm.barrier();
  const auto start = std::chrono::steady_clock::now();
  const std::vector<PowerBin> bins = power_spectrum(comm, set.position, set.mass, options, estimator);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  double sum = 0;
  for (const PowerBin& bin : bins) sum += bin.power * static_cast<double>(bin.modes);
  if (comm.is_master()) std::printf("%-10s %8.3f s, sum of powers %.15g\n", what, seconds.count(), sum);
}

void run(const Communicator& comm, int sites, int mesh, bool host) {
  const auto gpu = make_power_estimator(comm, {"cuda", true, {}});
  const Set set(comm, sites);
  const PowerOptions options{.box = 1, .mesh = mesh};
  if (comm.is_master()) std::printf("%d^3 particles, mesh of %d^3, %d ranks\n", sites, mesh, comm.size());
  for (int time = 0; time < 2; ++time) measure(comm, "GPU", set, options, *gpu);
  if (host) measure(comm, "host", set, options, HostPower());
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  grove::start_mpi(&argc, &argv);
  try {
    const grove::Communicator comm(MPI_COMM_WORLD);
    const int sites = argc > 1 ? std::atoi(argv[1]) : 256, mesh = argc > 2 ? std::atoi(argv[2]) : 2 * sites;
    grove::run(comm, sites, mesh, argc > 3 && std::strcmp(argv[3], "host") == 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_power_gpu: %s\n", error.what());
    return 1;
  }
  grove::end_mpi();
}
