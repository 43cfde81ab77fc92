grove_test(base unit/base_test.cpp unit/display_units_test.cpp unit/memory_test.cpp unit/pages_test.cpp LINK grove::base)
grove_test(potentials unit/potentials_test.cpp LINK grove::math)
grove_test(time unit/time_test.cpp unit/block_excess_test.cpp unit/cut_timing_test.cpp unit/growth_fit_test.cpp
           unit/rebuild_interval_test.cpp unit/tree_update_test.cpp unit/tree_update_prices_test.cpp unit/audit_schedule_test.cpp
           LINK grove::tuning)
grove_test(tree_tuning unit/tree_tuning_test.cpp unit/rebuild_above_test.cpp LINK grove::tuning)
grove_test(machine unit/machine_test.cpp LINK grove::machine)
grove_test(slurm_time unit/slurm_time_test.cpp LINK grove::run_guard)
grove_test(verdict unit/verdict_test.cpp LINK grove::run_log)
grove_test(watchdog unit/watchdog_test.cpp LINK grove::run_guard)
file(GLOB model_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/models_*test.cpp)
grove_test(models ${model_tests} LINK grove::models)

grove_test(parameters unit/parameters_test.cpp unit/potential_parameters_test.cpp LINK grove::io)
target_compile_definitions(test_parameters PRIVATE GROVE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
grove_test(bisection unit/bisection_test.cpp unit/bisection_leaf_test.cpp unit/cut_rule_test.cpp unit/kd_cut_test.cpp
           LINK grove::host)
grove_test(softening unit/softening_test.cpp LINK grove::math)
grove_test(direct_sum unit/direct_sum_test.cpp LINK grove::direct)
grove_test(forest unit/forest_test.cpp LINK grove::forest grove::decomposition)
grove_test(octree unit/octree_test.cpp unit/octree_cell_test.cpp unit/kd_tree_test.cpp LINK grove::forest grove::decomposition)
grove_test(device_bodies unit/device_bodies_test.cpp LINK grove::forest Kokkos::kokkos)
grove_test(interaction unit/interaction_test.cpp unit/acceptance_test.cpp unit/frame_test.cpp LINK grove::math)
grove_test(shares unit/decomposition_test.cpp unit/blocks_test.cpp unit/leaf_runs_test.cpp unit/leaf_balance_test.cpp
           LINK grove::decomposition)
grove_test(chart unit/chart_test.cpp LINK grove::io)
grove_test(probe unit/probe_test.cpp LINK grove::io)
grove_test(selection unit/selection_test.cpp LINK grove::let grove::forest)
grove_test(group_splitting unit/group_runs_test.cpp unit/critical_separation_test.cpp LINK grove::gravity RANKS 1 3)
