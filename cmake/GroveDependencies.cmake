# Libraries that Grove stands on. jobs/setup.sh installs them from Debian's packages.

find_package(MPI REQUIRED COMPONENTS CXX)
target_compile_definitions(MPI::MPI_CXX INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(PNG REQUIRED)
find_package(Freetype REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)

# KissFFT: its class template alone, for numbers in double precision (Debian's library has single precision).
find_path(GROVE_KISSFFT_INCLUDE kissfft.hh PATH_SUFFIXES kissfft REQUIRED)
mark_as_advanced(GROVE_KISSFFT_INCLUDE)
add_library(grove_kissfft INTERFACE)
target_include_directories(grove_kissfft SYSTEM INTERFACE ${GROVE_KISSFFT_INCLUDE})

# The font of pictures; where it is not at run time, others are looked for (io/font.cpp).
find_file(GROVE_FONT_FILE NAMES DejaVuSans.ttf LiberationSans-Regular.ttf NotoSans-Regular.ttf
          PATHS /usr/share/fonts /usr/local/share/fonts $ENV{HOME}/.local/share/fonts
          PATH_SUFFIXES truetype/dejavu dejavu-sans-fonts dejavu TTF truetype/liberation liberation-sans truetype/noto
          DOC "TrueType file for the letters of pictures")
mark_as_advanced(GROVE_FONT_FILE)
if(NOT GROVE_FONT_FILE)
  set(GROVE_FONT_FILE "")
  message(STATUS "No font was found for the letters of pictures: without one at run time they have none (GROVE_FONT, README.md)")
endif()

# Kokkos, 3.4 to 5.x (-DKokkos_ROOT=FOLDER: that one). The CMake config of Debian's 3.4 names an include folder that
# does not exist, so its imported target is pointed at the folder where the header is.
find_package(Kokkos REQUIRED)
if(Kokkos_ENABLE_CUDA)
  unset(CMAKE_CXX_COMPILER_LAUNCHER)  # Kokkos puts its own before the compiler, which stands back behind another
endif()
if(Kokkos_VERSION VERSION_LESS 4)
  find_path(GROVE_KOKKOS_INCLUDE Kokkos_Core.hpp PATH_SUFFIXES trilinos kokkos REQUIRED
            HINTS ${Kokkos_DIR}/../../../include)
  mark_as_advanced(GROVE_KOKKOS_INCLUDE)
  foreach(target IN ITEMS Kokkos::kokkos Kokkos::kokkoscore Kokkos::kokkoscontainers Kokkos::kokkosalgorithms)
    if(TARGET ${target})
      get_target_property(real ${target} ALIASED_TARGET)
      if(NOT real)
        set(real ${target})
      endif()
      set_target_properties(${real} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${GROVE_KOKKOS_INCLUDE}"
                                               INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${GROVE_KOKKOS_INCLUDE}")
    endif()
  endforeach()
endif()

# Parallel HDF5: Debian keeps it beside the serial one, under hdf5/openmpi.
set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 REQUIRED COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR "Grove needs a parallel HDF5 (Debian: libhdf5-openmpi-dev); found a serial one: ${HDF5_C_LIBRARIES}")
endif()
if(NOT TARGET HDF5::HDF5)
  add_library(HDF5::HDF5 INTERFACE IMPORTED)
  target_link_libraries(HDF5::HDF5 INTERFACE hdf5::hdf5)
endif()
target_link_libraries(HDF5::HDF5 INTERFACE MPI::MPI_CXX)
