# Toolchain file: Linux with musl on x86-64, by Debian's musl-gcc (musl-tools). THNN_TARGET is a folder that
# packaging/musl-root has filled: OpenMP's runtime, BLAS and Python for musl, none of which is the machine's own.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)

set(THNN_TARGET "" CACHE PATH "What there is for musl")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES THNN_TARGET)
if(NOT EXISTS "${THNN_TARGET}/bin/musl-cc")
  message(FATAL_ERROR "THNN_TARGET=${THNN_TARGET}: there is no bin/musl-cc in it. "
                      "Give the folder that packaging/musl-root has filled.")
endif()
set(CMAKE_C_COMPILER "${THNN_TARGET}/bin/musl-cc")
set(CMAKE_FIND_ROOT_PATH "${THNN_TARGET}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
