grove_test(walk physics/walk_test.cpp physics/walk_softening_test.cpp physics/walk_pruned_test.cpp physics/rope_walk_test.cpp
           LINK grove::forest grove::decomposition grove::direct)
grove_test(simulation physics/simulation_test.cpp
           LINK grove_test_runs LABELS physics)
grove_test(block_steps physics/block_steps_test.cpp
           LINK grove_test_runs LABELS physics)
grove_test(cosmology physics/cosmology_test.cpp LINK grove_test_runs grove::cosmology RANKS 1 3 LABELS physics)
grove_test(periodic_forces physics/periodic_forces_test.cpp LINK grove::gravity grove::io)
grove_test(periodic physics/periodic_test.cpp LINK grove_test_runs grove::cosmology grove::structure RANKS 1 3 LABELS physics)
grove_test(lennard_jones physics/lennard_jones_test.cpp LINK grove::neighbours RANKS 1 2 3 7)
target_compile_definitions(test_lennard_jones PRIVATE GROVE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
grove_test(gas physics/gas_test.cpp LINK grove::gas RANKS 1 2 3 7)
grove_test(gas_problems physics/gas_problems_test.cpp LINK grove_test_runs RANKS 1 3 LABELS physics)
grove_test(gas_comoving physics/gas_comoving_test.cpp LINK grove_test_runs grove::cosmology RANKS 1 3 LABELS physics)
grove_test(external physics/external_test.cpp
           LINK grove_test_runs LABELS physics)
grove_test(defaults physics/defaults_test.cpp
           LINK grove_test_runs LABELS physics)
grove_test(merger physics/merger_test.cpp physics/satellite_test.cpp LINK grove::run LABELS physics)
target_compile_definitions(test_merger PRIVATE GROVE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
grove_test(accuracy physics/accuracy_test.cpp LINK grove::run LABELS physics)
