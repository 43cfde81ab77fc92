#include "kernels/cuda/fourier/mesh_transforms.hpp"

#include <cufft.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/streams.cuh"

/// GROVE_CUDA() for cuFFT.
#define GROVE_CUFFT(call) ::grove::cuda::check_transform((call), #call)

namespace grove::cuda {
namespace {

void check_transform(cufftResult status, const char* call) {
  if (status != CUFFT_SUCCESS)
    throw std::runtime_error("cuFFT: error " + std::to_string(static_cast<int>(status)) + " (" + call + ")");
}

cufftHandle new_plan() {
  cufftHandle plan = 0;
  GROVE_CUFFT(cufftCreate(&plan));
  GROVE_CUFFT(cufftSetAutoAllocation(plan, 0));
  return plan;
}

}  // namespace

MeshTransforms::MeshTransforms(int points) {
  static_assert(sizeof(FieldMode) == sizeof(cufftDoubleComplex));
  int n[2] = {points, points};
  const int half = points / 2 + 1;
  std::size_t of_plane = 0, of_row = 0;
  plane_ = new_plan();
  GROVE_CUFFT(cufftMakePlanMany(plane_, 2, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_D2Z, 1, &of_plane));
  row_ = new_plan();
  GROVE_CUFFT(cufftMakePlanMany(row_, 1, n, n, half, 1, n, half, 1, CUFFT_Z2Z, half, &of_row));
  scratch_ = DeviceArray<std::byte>(std::max(of_plane, of_row));
  for (const cufftHandle plan : {plane_, row_}) GROVE_CUFFT(cufftSetWorkArea(plan, scratch_.data()));
}

MeshTransforms::~MeshTransforms() {
  for (const cufftHandle plan : {plane_, row_})
    if (plan != 0) cufftDestroy(plan);
}

/// An allowance of 8 planes of modes: lengths with large prime factors are transformed by way of longer ones.
double MeshTransforms::bytes(int points) { return 8 * 16 * std::pow(points, 2); }

void MeshTransforms::transform_plane(double* values, FieldMode* modes) const {
  GROVE_CUFFT(cufftSetStream(plane_, stream()));
  GROVE_CUFFT(cufftExecD2Z(plane_, values, reinterpret_cast<cufftDoubleComplex*>(modes)));
}

void MeshTransforms::transform_row(FieldMode* modes) const {
  GROVE_CUFFT(cufftSetStream(row_, stream()));
  auto* const data = reinterpret_cast<cufftDoubleComplex*>(modes);
  GROVE_CUFFT(cufftExecZ2Z(row_, data, data, CUFFT_FORWARD));
}

}  // namespace grove::cuda
