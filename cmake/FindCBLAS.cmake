# Finds a BLAS with the CBLAS interface and 32-bit integers.
#
# Input:  THNN_BLAS   scipy-openblas32: OpenBLAS from the Python package of that name
#                     system: what CMake's FindBLAS finds (BLA_VENDOR chooses among several)
#                     auto: the first of these that is there
# Output: CBLAS::CBLAS, which defines THNN_BLAS_SCIPY_OPENBLAS if its symbols begin with scipy_
#
# A cross build takes the target's BLAS from the folders of CMAKE_FIND_ROOT_PATH, where
# scipy-openblas32 is an unpacked wheel, and never one of the machine that compiles.

if(TARGET CBLAS::CBLAS)
  set(CBLAS_FOUND ON)
  return()
endif()

set(THNN_BLAS auto CACHE STRING "BLAS: auto, scipy-openblas32 or system")
set_property(CACHE THNN_BLAS PROPERTY STRINGS auto scipy-openblas32 system)

# Sets `result` to the path of scipy-openblas32's library, or to nothing.
function(cblas_find_scipy result)
  if(CMAKE_CROSSCOMPILING)
    find_library(CBLAS_SCIPY_LIBRARY scipy_openblas PATHS / PATH_SUFFIXES scipy_openblas32/lib
                 NO_DEFAULT_PATH ONLY_CMAKE_FIND_ROOT_PATH)
    mark_as_advanced(CBLAS_SCIPY_LIBRARY)
  # pip's isolated builds put the package into a new folder each time.
  elseif(NOT EXISTS "${CBLAS_SCIPY_LIBRARY}")
    unset(CBLAS_SCIPY_LIBRARY CACHE)
    find_package(Python COMPONENTS Interpreter QUIET)
    if(NOT Python_Interpreter_FOUND)
      return()
    endif()
    execute_process(
      COMMAND "${Python_EXECUTABLE}" -c
              "import scipy_openblas32; print(scipy_openblas32.get_lib_dir())"
      OUTPUT_VARIABLE directory
      OUTPUT_STRIP_TRAILING_WHITESPACE
      ERROR_QUIET)
    find_library(CBLAS_SCIPY_LIBRARY scipy_openblas PATHS "${directory}" NO_DEFAULT_PATH)
    mark_as_advanced(CBLAS_SCIPY_LIBRARY)
  endif()
  if(CBLAS_SCIPY_LIBRARY)
    set(${result} "${CBLAS_SCIPY_LIBRARY}" PARENT_SCOPE)
  endif()
endfunction()

# Sets `result` to the libraries of a system BLAS with the CBLAS interface, or to nothing.
function(cblas_find_system result)
  include(CheckFunctionExists)
  set(BLA_SIZEOF_INTEGER 4)
  if(CMAKE_CROSSCOMPILING)
    set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
  endif()
  find_package(BLAS QUIET)
  if(NOT BLAS_FOUND)
    return()
  endif()
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_REQUIRED_LIBRARIES ${BLAS_LIBRARIES} ${BLAS_LINKER_FLAGS})
  check_function_exists(cblas_sgemm CBLAS_IN_BLAS)
  if(CBLAS_IN_BLAS)
    set(${result} ${BLAS_LIBRARIES} ${BLAS_LINKER_FLAGS} PARENT_SCOPE)
    return()
  endif()
  # The reference BLAS and ATLAS may keep the C interface in a library of its own.
  find_library(CBLAS_SEPARATE_LIBRARY cblas)
  mark_as_advanced(CBLAS_SEPARATE_LIBRARY)
  if(CBLAS_SEPARATE_LIBRARY)
    set(${result} "${CBLAS_SEPARATE_LIBRARY}" ${BLAS_LIBRARIES} ${BLAS_LINKER_FLAGS} PARENT_SCOPE)
  endif()
endfunction()

set(CBLAS_LIBRARIES "")
set(CBLAS_definitions "")
if(THNN_BLAS STREQUAL "scipy-openblas32" OR THNN_BLAS STREQUAL "auto")
  cblas_find_scipy(CBLAS_LIBRARIES)
  if(CBLAS_LIBRARIES)
    set(CBLAS_definitions THNN_BLAS_SCIPY_OPENBLAS)
  endif()
endif()
if(NOT CBLAS_LIBRARIES AND (THNN_BLAS STREQUAL "system" OR THNN_BLAS STREQUAL "auto"))
  cblas_find_system(CBLAS_LIBRARIES)
endif()

set(CBLAS_advice "pip install scipy-openblas32, or apt install libopenblas-dev")
if(THNN_BLAS STREQUAL "scipy-openblas32")
  set(CBLAS_advice "pip install scipy-openblas32, for the Python that CMake uses")
  string(APPEND CBLAS_advice " (Python_EXECUTABLE=${Python_EXECUTABLE})")
elseif(THNN_BLAS STREQUAL "system")
  set(CBLAS_advice "apt install libopenblas-dev, or dnf install openblas-devel")
  string(APPEND CBLAS_advice ", or give CMake's FindBLAS the place: BLA_VENDOR, CMAKE_PREFIX_PATH")
elseif(NOT THNN_BLAS STREQUAL "auto")
  message(FATAL_ERROR "THNN_BLAS=${THNN_BLAS}: expected auto, scipy-openblas32 or system")
endif()
if(CMAKE_CROSSCOMPILING)
  string(CONCAT CBLAS_advice "unpack scipy-openblas32's wheel for ${CMAKE_SYSTEM_PROCESSOR} into "
                "${CMAKE_SYSROOT}${CMAKE_FIND_ROOT_PATH}, or a BLAS into its usr/lib")
endif()
if(NOT CBLAS_LIBRARIES)
  message(FATAL_ERROR "THNN_BLAS=${THNN_BLAS}: no BLAS with the CBLAS interface was found. "
                      "Install one: ${CBLAS_advice}.")
endif()

list(GET CBLAS_LIBRARIES 0 CBLAS_first)
message(STATUS "BLAS: ${CBLAS_first}")
add_library(CBLAS::CBLAS INTERFACE IMPORTED GLOBAL)
set_target_properties(
  CBLAS::CBLAS PROPERTIES INTERFACE_LINK_LIBRARIES "${CBLAS_LIBRARIES}"
                          INTERFACE_COMPILE_DEFINITIONS "${CBLAS_definitions}")
set(CBLAS_FOUND ON)
