// A decomposition in which rank 1 throws, exits or hangs in a service, as `grove run` would meet it: with its
// end of the program and its watchdog.
//
//   faulty_services SERVICE throw|exit|hang messages|collectives
#include <mpi.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands/outcome.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/host_rank.hpp"
#include "kernels/kokkos/runtime.hpp"
#include "run/guard/watchdog.hpp"
#include "support/faults.hpp"
#include "support/particle_sets.hpp"

namespace grove {
namespace {

class FaultyRank : public HostRank {
 public:
  FaultyRank(Particles& particles, DecompositionReport& report, std::string service, std::string kind)
      : HostRank(particles, report), service_(std::move(service)), kind_(std::move(kind)) {}

  std::vector<ServiceEntry> services() override {
    std::vector<ServiceEntry> all = HostRank::services();
    for (ServiceEntry& entry : all)
      if (entry.name == service_)
        entry.run = [this](std::span<const std::byte>, Bytes&) { test::fault(kind_); };
    return all;
  }

 private:
  std::string service_, kind_;
};

void decompose_with_fault(const Communicator& comm, const std::string& service, const std::string& kind,
                          const std::string& transport) {
  const Watchdog watchdog(comm.rank(), 2);
  // On 64 places, so that cuts meet ties.
  Particles own = test::make_particles(comm, test::Shape::lattice, 3000);
  DecompositionParameters parameters;
  parameters.leaf_size = 64;
  parameters.schedule = Schedule::master;
  parameters.transport = transport == "messages" ? Transport::messages : Transport::collectives;
  DecompositionReport report;
  FaultyRank rank(own, report, comm.rank() == 1 ? service : "", kind);
  decompose(comm, rank, parameters, {}, report);
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 2;
  if (argc == 4) {
    const grove::KokkosRuntime kokkos;
    const grove::Communicator world(MPI_COMM_WORLD);
    status = grove::outcome_of(world, [&](const grove::Communicator& comm) {
      grove::decompose_with_fault(comm, argv[1], argv[2], argv[3]);
    });
  }
  MPI_Finalize();
  return status;
}
