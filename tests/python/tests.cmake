# The module of Python, in the Python that it was built for.
if(NOT GROVE_HAS_PYTHON)
  return()
endif()
function(grove_python_test name ranks)
  grove_register_test(python_${name}.ranks_${ranks} ${ranks} "" ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_BINARY_DIR}/python
                      ${ARGN})
endfunction()

set(python_tests ${CMAKE_CURRENT_SOURCE_DIR}/python)
grove_python_test(module 1 ${Python_EXECUTABLE} ${python_tests}/module_test.py)
grove_python_test(gas 1 ${Python_EXECUTABLE} ${python_tests}/gas_test.py)
grove_python_test(same_bits 3 ${python_tests}/same_bits.sh $<TARGET_FILE:grove> ${Python_EXECUTABLE} ${GROVE_MPIRUN})
grove_python_test(yt 1 ${Python_EXECUTABLE} ${python_tests}/yt_test.py $<TARGET_FILE:grove>)
