# The target TH from an installed Torch7: headers under TH_ROOT/include, libTH under TH_ROOT/lib.
find_path(TH_INCLUDE_DIR TH/TH.h PATHS "${TH_ROOT}/include" NO_DEFAULT_PATH)
find_library(TH_LIBRARY NAMES libTH.so.0 TH PATHS "${TH_ROOT}/lib" "${TH_ROOT}/lib64"
             NO_DEFAULT_PATH)
if(NOT TH_INCLUDE_DIR OR NOT TH_LIBRARY)
  message(FATAL_ERROR "THNN_TH=system: there is no include/TH/TH.h or no lib/libTH.so.0 under "
                      "TH_ROOT=\"${TH_ROOT}\". Give the prefix of an installed Torch7, "
                      "such as -DTH_ROOT=$HOME/torch/install, or build with -DTHNN_TH=bundled.")
endif()
add_library(TH SHARED IMPORTED GLOBAL)
set_target_properties(TH PROPERTIES IMPORTED_LOCATION "${TH_LIBRARY}"
                                    INTERFACE_INCLUDE_DIRECTORIES "${TH_INCLUDE_DIR}")
message(STATUS "TH: ${TH_LIBRARY}")
