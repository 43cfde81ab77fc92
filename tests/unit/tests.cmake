grove_test(base unit/base_test.cpp LINK grove::base)
grove_test(time unit/time_test.cpp LINK grove::time)
file(GLOB model_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/models_*test.cpp)
grove_test(models ${model_tests} LINK grove::models)

grove_test(parameters unit/parameters_test.cpp LINK grove::io)
target_compile_definitions(test_parameters PRIVATE GROVE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
grove_test(bisection unit/bisection_test.cpp LINK grove::kokkos)
