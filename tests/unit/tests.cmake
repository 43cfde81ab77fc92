grove_test(base unit/base_test.cpp LINK grove::base)
