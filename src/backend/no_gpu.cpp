// Takes the place of src/backend/gpu in a build without CUDA.
#include "backend/gpu_backend.hpp"
#include "base/errors.hpp"

namespace grove {

namespace {

[[noreturn]] void refuse_gpus() {
  throw Agreed<InputError>(
      "this grove was built without CUDA: build it where nvcc is on the PATH (-DGROVE_CUDA=ON), or choose "
      "--backend kokkos");
}

}  // namespace

std::string fault_of_gpus(const Communicator&, bool) { return "built without CUDA"; }

DeviceMemory gpu_memory(const Communicator&, bool) { refuse_gpus(); }

std::uint64_t peak_device_memory() { return 0; }

std::unique_ptr<Backend> make_gpu_backend(const Communicator&, const BackendChoice&, Particles,
                                          const GravityParameters&, const GasParameters&) {
  refuse_gpus();
}

std::unique_ptr<FriendFinder> make_gpu_friend_finder(const Communicator&, bool) { refuse_gpus(); }

std::unique_ptr<PowerEstimator> make_gpu_power_estimator(const Communicator&, bool) { refuse_gpus(); }

}  // namespace grove
