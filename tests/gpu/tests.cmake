# Run where there is a GPU; elsewhere they skip, and say so.
if(GROVE_HAS_CUDA)
  grove_test(bisection_gpu gpu/bisection_gpu_test.cpp LINK grove::cuda grove::kokkos LABELS gpu)
endif()
