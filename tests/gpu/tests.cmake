# Run where there is a GPU; elsewhere they skip, and say so.
if(GROVE_HAS_CUDA)
  grove_test(bisection_gpu gpu/bisection_gpu_test.cpp LINK grove::cuda grove::kokkos LABELS gpu)
  grove_test(leaf_bisection_gpu gpu/leaf_bisection_gpu_test.cpp LINK grove::cuda grove::forest LABELS gpu)
  grove_test(walk_gpu gpu/walk_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition grove::direct LABELS gpu)
  grove_test(services_gpu gpu/services_gpu_test.cpp LINK grove::decomposition_gpu LABELS gpu)
  grove_test(device_exchange gpu/device_exchange_test.cpp LINK grove::decomposition_gpu RANKS 1 2 3 4 7 LABELS gpu)
  grove_test(decomposition_gpu gpu/decomposition_gpu_test.cpp LINK grove::decomposition_gpu RANKS 1 2 3 4 7 LABELS gpu)
endif()
