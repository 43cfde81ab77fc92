grove_test(base unit/base_test.cpp LINK grove::base)
grove_test(time unit/time_test.cpp LINK grove::time)
grove_test(models unit/models_random_test.cpp unit/models_sphere_test.cpp unit/models_test.cpp LINK grove::models)
