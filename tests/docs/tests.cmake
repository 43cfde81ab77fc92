# The commands in the pages of the documentation are run.
if(NOT GROVE_HAS_PYTHON)
  return()
endif()
foreach(page IN ITEMS README.md docs/tutorial.md docs/cosmology-tutorial.md docs/choosing.md docs/limits.md docs/analysis.md)
  get_filename_component(name ${page} NAME_WE)
  string(TOLOWER ${name} name)
  grove_register_test(page_${name} 2 "" ${Python_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/page_test.py
                      ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/${page})
endforeach()
grove_register_test(folder_map 1 "" ${Python_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/folder_map_test.py ${PROJECT_SOURCE_DIR})
grove_register_test(docs_links 1 "" ${Python_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/links_test.py ${PROJECT_SOURCE_DIR})
grove_register_test(mpi_calls 1 "" ${Python_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/mpi_calls_test.py ${PROJECT_SOURCE_DIR})
grove_register_test(include_circles 1 "" ${Python_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/include_circles_test.py ${PROJECT_SOURCE_DIR})
