# Run where there is a GPU; elsewhere they skip, and say so.
if(GROVE_HAS_CUDA)
  grove_test(far_cells_gpu gpu/far_cells_gpu_test.cpp LINK grove::decomposition_gpu grove::gravity LABELS gpu)
  grove_test(waits_gpu gpu/waits_gpu_test.cpp LINK grove::cuda LABELS gpu)
  grove_test(bisection_gpu gpu/bisection_gpu_test.cpp LINK grove::cuda grove::host LABELS gpu)
  grove_test(leaf_bisection_gpu gpu/leaf_bisection_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition LABELS gpu)
  grove_test(octree_gpu gpu/octree_gpu_test.cpp LINK grove::cuda grove::forest LABELS gpu)
  grove_test(kd_gpu gpu/kd_gpu_test.cpp LINK grove::cuda grove::forest LABELS gpu)
  grove_test(tree_refit_gpu gpu/tree_refit_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition LABELS gpu)
  grove_test(walk_gpu gpu/walk_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition grove::direct LABELS gpu)
  grove_test(top_images_gpu gpu/top_images_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition grove::direct LABELS gpu)
  grove_test(own_walk_gpu gpu/own_walk_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition grove::direct LABELS gpu)
  grove_test(wide_groups_gpu gpu/wide_groups_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition grove::direct LABELS gpu)
  grove_test(active_groups_gpu gpu/active_groups_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition grove::direct LABELS gpu)
  grove_test(walk_shares_gpu gpu/walk_shares_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition grove::direct LABELS gpu)
  grove_test(walk_parts_gpu gpu/walk_parts_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition grove::direct LABELS gpu)
  grove_test(group_runs_gpu gpu/group_runs_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition LABELS gpu)
  grove_test(direct_gpu gpu/direct_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition grove::direct LABELS gpu)
  grove_test(leaf_sums_gpu gpu/leaf_sums_gpu_test.cpp LINK grove::cuda grove::forest grove::direct LABELS gpu)
  grove_test(rope_gpu gpu/rope_gpu_test.cpp LINK grove::cuda grove::forest grove::decomposition grove::direct LABELS gpu)
  grove_test(services_gpu gpu/services_gpu_test.cpp LINK grove::decomposition_gpu LABELS gpu)
  grove_test(device_exchange gpu/device_exchange_test.cpp LINK grove::decomposition_gpu RANKS 1 2 3 4 7 LABELS gpu)
  grove_test(decomposition_gpu gpu/decomposition_gpu_test.cpp gpu/one_round_gpu_test.cpp LINK grove::decomposition_gpu RANKS 1 2 3 4 7 LABELS gpu)
  grove_test(backend_gpu gpu/backend_gpu_test.cpp gpu/backend_beside_host_test.cpp LINK grove::backend grove::decomposition_gpu grove::io RANKS 1 2 3 4 7 LABELS gpu)
  grove_test(block_steps_gpu gpu/block_steps_gpu_test.cpp LINK grove_test_runs
             grove::decomposition_gpu grove::gravity_gpu RANKS 1 2 3 4 7 LABELS gpu)
  grove_test(neighbours_gpu gpu/neighbours_gpu_test.cpp support/neighbour_sets.cu LINK grove::gas_gpu RANKS 1 2 3 7 LABELS gpu)
  grove_test(friends_gpu gpu/friends_gpu_test.cpp LINK grove::commands grove_test_runs grove::gas_gpu nlohmann_json::nlohmann_json
             RANKS 1 2 3 7 LABELS gpu)
  if(GROVE_HAS_CUFFT)
    grove_test(power_gpu gpu/power_gpu_test.cpp LINK grove::commands grove_test_runs grove::decomposition_gpu grove::structure_gpu
               RANKS 1 2 3 7 LABELS gpu)
  endif()
  grove_test(gas_gpu gpu/gas_gpu_test.cpp LINK grove_test_runs grove::decomposition_gpu RANKS 1 2 3 7 LABELS gpu)
  grove_test(external_gpu gpu/external_gpu_test.cpp LINK grove_test_runs grove::decomposition_gpu RANKS 1 3 LABELS gpu)
  grove_test(kept_lets_gpu gpu/kept_lets_gpu_test.cpp LINK grove_test_runs
             grove::decomposition_gpu grove::gravity_gpu RANKS 1 2 3 LABELS gpu)
  grove_test(leaf_moves_gpu gpu/leaf_moves_gpu_test.cpp LINK grove_test_runs
             grove::decomposition_gpu RANKS 1 2 3 4 7 LABELS gpu)
  grove_test(step_budgets_gpu gpu/step_budgets_gpu_test.cpp LINK grove_test_runs grove::decomposition_gpu
             nlohmann_json::nlohmann_json RANKS 1 2 LABELS gpu)
  grove_test(checkpoint_gpu gpu/checkpoint_gpu_test.cpp LINK grove_test_runs
             grove::decomposition_gpu RANKS 1 2 3 4 7 LABELS gpu)
endif()
