grove_test(walk physics/walk_test.cpp LINK grove::forest grove::decomposition)
