# The scripts behind docs/measurements run, with few particles.
if(NOT GROVE_HAS_PYTHON)
  return()
endif()
foreach(script IN ITEMS kd_figures octree_paper trees_at_equal_error aged_trees rebuilds accuracy trees large_p cosmology linear_growth pancake gas_figures)
  grove_register_test(bench_${script} 1 "" ${Python_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/bench/bench_test.py
                      ${PROJECT_BINARY_DIR} ${script})
endforeach()
set_tests_properties(bench_cosmology PROPERTIES PROCESSORS 2)
