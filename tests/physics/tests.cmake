grove_test(walk physics/walk_test.cpp physics/walk_softening_test.cpp physics/walk_pruned_test.cpp LINK grove::forest grove::decomposition)
