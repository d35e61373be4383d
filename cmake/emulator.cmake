# For toolchain files: the emulator that runs the tests of another processor, for the programs in THNN_TARGET.

find_program(THNN_EMULATOR NAMES "qemu-${CMAKE_SYSTEM_PROCESSOR}" "qemu-${CMAKE_SYSTEM_PROCESSOR}-static")
mark_as_advanced(THNN_EMULATOR)
if(THNN_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${THNN_EMULATOR}" -L "${THNN_TARGET}")
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
    # A processor that there is: qemu's own has extensions for matrices, in whose kernels of OpenBLAS a
    # product of a long run of tests was wrong.
    list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -cpu neoverse-n1)
  endif()
endif()
