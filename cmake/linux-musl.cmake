# Toolchain file: Linux with musl on x86-64 or aarch64. THNN_TARGET is a folder that packaging/musl-root has filled
# for one of them: musl, OpenMP's runtime, BLAS and Python, none of which is the machine's own.

set(THNN_TARGET "" CACHE PATH "What there is for musl")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES THNN_TARGET)
if(NOT EXISTS "${THNN_TARGET}/bin/musl-cc")
  message(FATAL_ERROR "THNN_TARGET=${THNN_TARGET}: there is no bin/musl-cc in it. "
                      "Give the folder that packaging/musl-root has filled.")
endif()
execute_process(COMMAND "${THNN_TARGET}/bin/musl-cc" -print-multiarch
                OUTPUT_VARIABLE THNN_MUSL_TARGET COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "${THNN_MUSL_TARGET}")
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER "${THNN_TARGET}/bin/musl-cc")
set(CMAKE_FIND_ROOT_PATH "${THNN_TARGET}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  include("${CMAKE_CURRENT_LIST_DIR}/emulator.cmake")
endif()
