// Takes the place of decompose_gpu.cpp in a build without CUDA.
#include "base/errors.hpp"
#include "commands/decompose_gpu.hpp"

namespace grove {

std::unique_ptr<GpuDecompose> make_gpu_decompose(const Communicator&, const DecomposeOptions&) {
  throw Agreed<InputError>(
      "this grove was built without CUDA: build it where nvcc is on the PATH (-DGROVE_CUDA=ON), or choose "
      "--backend kokkos");
}

}  // namespace grove
