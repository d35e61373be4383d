# For toolchain files: the emulator that runs the tests of another processor, for the programs in THNN_TARGET.

find_program(THNN_EMULATOR NAMES qemu-aarch64 qemu-aarch64-static)
mark_as_advanced(THNN_EMULATOR)
if(THNN_EMULATOR)
  # A processor that there is: qemu's own has extensions for matrices, in whose kernels of OpenBLAS a
  # product of a long run of tests was wrong.
  set(CMAKE_CROSSCOMPILING_EMULATOR "${THNN_EMULATOR}" -cpu neoverse-n1 -L "${THNN_TARGET}")
endif()
