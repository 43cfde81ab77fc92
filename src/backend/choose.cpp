#include "backend/backend.hpp"
#include "backend/gpu_backend.hpp"
#include "backend/host_backend.hpp"
#include "base/errors.hpp"

namespace grove {

std::string resolve(const Communicator& comm, BackendChoice& choice) {
  if (choice.name != "auto") return {};
  const std::string fault = fault_of_gpus(comm, choice.share_gpu);
  choice.name = fault.empty() ? "cuda" : "kokkos";
  return fault;
}

std::optional<DeviceMemory> device_memory(const Communicator& comm, const BackendChoice& choice) {
  if (choice.name != "cuda") return std::nullopt;
  return gpu_memory(comm, choice.share_gpu);
}

namespace {

void require_criterion_on_gpus(Criterion criterion) {
  switch (criterion) {
    case Criterion::opening_edge:
    case Criterion::opening_radius:
    case Criterion::multipole:
    case Criterion::acceleration:
    case Criterion::opening_cell:
      return;
    case Criterion::relative_edge:
      break;
  }
  throw Agreed<InputError>(
      "GPUs have no such criterion: choose --backend kokkos, or another one (gravity.criterion, "
      "--criterion)");
}

/// Only octrees have the cells that a criterion takes.
void require_cells(const GravityParameters& gravity) {
  if (gravity.criterion == Criterion::opening_cell && gravity.tree != LocalTreeKind::octree)
    throw Agreed<InputError>(
        "the criterion opening_cell takes the cells of octrees: choose these (gravity.tree: octree, --tree "
        "octree), or another criterion (gravity.criterion, --criterion), such as opening_edge");
}

/// The kinds of trees that GPUs have.
void require_tree_on_gpus(const GravityParameters& gravity) {
  switch (gravity.tree) {
    case LocalTreeKind::bisection:
    case LocalTreeKind::octree:
      return;
    case LocalTreeKind::kd:
      break;
  }
  throw Agreed<InputError>(
      "GPUs have no trees of this kind: choose --backend kokkos, or another tree (gravity.tree, --tree)");
}

}  // namespace

std::unique_ptr<Backend> make_backend(const Communicator& comm, const BackendChoice& choice,
                                      Particles particles, const GravityParameters& gravity) {
  require_cells(gravity);
  if (choice.name == "cuda") {
    require_tree_on_gpus(gravity);
    require_criterion_on_gpus(gravity.criterion);
    return make_gpu_backend(comm, choice, std::move(particles), gravity);
  }
  if (choice.payload || choice.share_gpu)
    throw Agreed<InputError>("--payload and --share-gpu are for GPUs; here the host does it all");
  return std::make_unique<HostBackend>(comm, std::move(particles), gravity);
}

}  // namespace grove
