# Toolchain file: Linux on aarch64, by Debian's cross compiler gcc-aarch64-linux-gnu (C++ examples need
# g++-aarch64-linux-gnu); tests run under qemu-user. THNN_TARGET is a folder with the target's root file
# system, its BLAS included; nothing of the machine that compiles is linked with.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(THNN_TARGET "" CACHE PATH "Root file system of the target")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES THNN_TARGET)
if(NOT EXISTS "${THNN_TARGET}/usr/lib/aarch64-linux-gnu/libc.so")
  message(FATAL_ERROR "THNN_TARGET=${THNN_TARGET}: there is no usr/lib/aarch64-linux-gnu/libc.so in it. "
                      "Give the folder that packaging/aarch64-root has filled.")
endif()
set(CMAKE_SYSROOT "${THNN_TARGET}")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

include("${CMAKE_CURRENT_LIST_DIR}/emulator.cmake")
