# Builds libTHNN with THNN_TH=system and checks what it takes from other libraries.
#
# Our libTH is built in Torch7's layout (names, headers, and of its symbols those of Torch7) and
# stands in for an installed Torch7. libTHNN must then link, and of libTH it may use nothing that
# Torch7 does not export.

set(prefix "${BINARY_DIR}/torch")
set(exports "${SOURCE_DIR}/tests/data/api/th_exports.txt")

# Runs a command; its output is only of interest when it fails.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(result)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

# Configures and builds the project; target and options follow. Of the vector loops the baseline: the
# others are the same sources.
function(build directory target)
  run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${directory}" -G "${GENERATOR}"
      "-DCMAKE_C_COMPILER=${C_COMPILER}" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_INSTALL_LIBDIR=lib
      "-DTHNN_OPENMP=${OPENMP}" -DTHNN_TESTS=OFF -DTHNN_PYTHON=OFF -DTHNN_CUDA=off
      -DTHNN_COMPILER_HAS_X86_64_V3=OFF -DTHNN_COMPILER_HAS_X86_64_V4=OFF -DTHNN_WERROR=ON ${ARGN})
  run("${CMAKE_COMMAND}" --build "${directory}" --target "${target}")
endfunction()

build("${BINARY_DIR}/th" TH -DTHNN_TH=bundled -DTHNN_TH_TORCH7_LAYOUT=ON "-DTHNN_BLAS=${BLAS}"
      "-DCBLAS_SCIPY_LIBRARY=${SCIPY_LIBRARY}" "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}")
run("${CMAKE_COMMAND}" --install "${BINARY_DIR}/th" --component TH --prefix "${prefix}")
foreach(file IN ITEMS include/TH/TH.h lib/libTH.so lib/libTH.so.0)
  if(NOT EXISTS "${prefix}/${file}")
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()

build("${BINARY_DIR}/thnn" THNN -DTHNN_TH=system "-DTH_ROOT=${prefix}")
set(library "${BINARY_DIR}/thnn/thnn/libTHNN.so")

# Symbols: libTH's must be Torch7's; the others come with a version (libc, libm, OpenMP), or are
# the compiler's and may be missing.
execute_process(COMMAND "${NM}" -D --undefined-only "${library}" OUTPUT_VARIABLE undefined
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" undefined "${undefined}")
file(STRINGS "${exports}" exported)
set(taken 0)
foreach(line IN LISTS undefined)
  if(line MATCHES "^ +U ([A-Za-z0-9_]+)$")
    if(NOT CMAKE_MATCH_1 IN_LIST exported)
      message(SEND_ERROR "libTHNN uses ${CMAKE_MATCH_1}, which Torch7's libTH does not export")
    endif()
    math(EXPR taken "${taken} + 1")
  elseif(NOT line MATCHES "@(GLIBC|GOMP|OMP|GOACC|VERSION|GCC)" AND NOT line MATCHES "^ +w ")
    message(SEND_ERROR "libTHNN uses a symbol of an unknown library: ${line}")
  endif()
endforeach()
if(taken LESS 10)
  message(SEND_ERROR "libTHNN takes ${taken} symbols from libTH: that cannot be all")
endif()

execute_process(COMMAND "${READELF}" -d "${library}" OUTPUT_VARIABLE dynamic
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*\\[[^]\n]+\\]" needed "${dynamic}")
list(TRANSFORM needed REPLACE ".*\\[([^]]+)\\].*" "\\1")
if(NOT "libTH.so.0" IN_LIST needed)
  message(SEND_ERROR "libTHNN does not need libTH.so.0 but ${needed}")
endif()
list(FILTER needed EXCLUDE REGEX "^(libTH\\.so\\.0|lib(c|m|gomp|omp|gcc_s|pthread)\\.so|ld-linux)")
if(needed)
  message(SEND_ERROR "libTHNN needs ${needed}")
endif()
message(STATUS "libTHNN takes ${taken} symbols from libTH")
