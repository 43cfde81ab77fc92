grove_test(comm mpi/comm_test.cpp LINK grove::comm RANKS 1 2 3 4 7)
grove_test(exact_collectives mpi/exact_collectives_test.cpp LINK grove::comm RANKS 1 2 3 4 7)
grove_test(totals mpi/totals_test.cpp LINK grove::let RANKS 1 2 3 4 7)
grove_test(message_exchange mpi/message_exchange_test.cpp LINK grove::let RANKS 1 2 3 4 7)
