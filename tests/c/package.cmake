# Installs the project, builds a user's program against it and runs it.

set(prefix "${BINARY_DIR}/prefix")

# Runs a command; its output is only of interest when it fails.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(result)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${BINARY_DIR}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")
run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${BINARY_DIR}/build" -G "${GENERATOR}"
    "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_PREFIX_PATH=${prefix}")
run("${CMAKE_COMMAND}" --build "${BINARY_DIR}/build")
run("${BINARY_DIR}/build/user")

# The examples, with nothing but a compiler and pkg-config.
find_program(PKG_CONFIG pkg-config)
if(NOT PKG_CONFIG)
  message(STATUS "pkg-config is not installed: its files were not looked at")
  return()
endif()
file(GLOB_RECURSE file "${prefix}/*/thnn.pc")
cmake_path(GET file PARENT_PATH folder)
set(ENV{PKG_CONFIG_PATH} "${folder}")
set(options --cflags --libs)
if(NOT SHARED)
  list(APPEND options --static)
endif()
execute_process(COMMAND "${PKG_CONFIG}" ${options} thnn OUTPUT_VARIABLE flags
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
cmake_path(GET folder PARENT_PATH libraries)
run("${C_COMPILER}" -std=c11 "${EXAMPLES}/layer.c" ${flags} "-Wl,-rpath,${libraries}" -o
    "${BINARY_DIR}/layer_c")
run("${BINARY_DIR}/layer_c")
if(CXX_COMPILER)
  run("${CXX_COMPILER}" -std=c++20 "${EXAMPLES}/layer.cpp" ${flags} "-Wl,-rpath,${libraries}" -o
      "${BINARY_DIR}/layer_cpp")
  run("${BINARY_DIR}/layer_cpp")
endif()
