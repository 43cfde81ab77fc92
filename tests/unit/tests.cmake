grove_test(base unit/base_test.cpp LINK grove::base)
grove_test(time unit/time_test.cpp LINK grove::time)
