# The extension module of a package for CUDA, such as pythnn_cuda13: see pythnn/_native/cuda.h.

set(PYTHNN_SOURCE_DIR "${CMAKE_CURRENT_LIST_DIR}/../pythnn")

# pythnn_add_cuda_module(target package objects option…): the module `package`._cffi, which holds
# `objects`, a libTHCUNN; the options are for its generated source. The package's folder,
# ${CMAKE_CURRENT_BINARY_DIR}/`package`, can be imported from.
function(pythnn_add_cuda_module target package objects)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module
                                               ${SKBUILD_SABI_COMPONENT})
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${package}")
  file(GLOB scripts CONFIGURE_DEPENDS "${PYTHNN_SOURCE_DIR}/_build/*.py")
  set(thnn "${PYTHNN_SOURCE_DIR}/../thnn")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${thnn}/cuda/*.h" "${PYTHNN_SOURCE_DIR}/_native/*.h")
  set(python_files "${folder}/_table.py" "${folder}/_version.py")
  add_custom_command(
    OUTPUT "${folder}/stamp"
    BYPRODUCTS "${folder}/_cffi.c" ${python_files}
    COMMAND "${Python_EXECUTABLE}" "${PYTHNN_SOURCE_DIR}/_build" --compiler "${CMAKE_C_COMPILER}"
            --include "${thnn}" --output "${folder}" --version "${PROJECT_VERSION}" --cuda
            "${package}"
    COMMAND "${CMAKE_COMMAND}" -E copy "${PYTHNN_SOURCE_DIR}/../cmake/cudaPackage.py"
            "${folder}/__init__.py"
    COMMAND "${CMAKE_COMMAND}" -E touch "${folder}/stamp"
    DEPENDS ${scripts} ${headers} "${thnn}/THNN.h" "${thnn}/generic/THNN.h" "${thnn}/THNNExtra.h"
            "${thnn}/generic/THNNExtraModules.h" "${thnn}/generic/THNNExtraSequences.h"
            "${PYTHNN_SOURCE_DIR}/../cmake/cudaPackage.py"
    COMMENT "Reading the C headers for ${package}"
    VERBATIM)
  add_custom_target(${target}_generated DEPENDS "${folder}/stamp")

  if(SKBUILD_SABI_VERSION)
    set(stable_abi USE_SABI ${SKBUILD_SABI_VERSION})
  endif()
  python_add_library(${target} MODULE WITH_SOABI ${stable_abi} "${folder}/_cffi.c"
                     "${PYTHNN_SOURCE_DIR}/_native/guard.c" "${PYTHNN_SOURCE_DIR}/_native/cuda.c"
                     ${objects})
  add_dependencies(${target} ${target}_generated)
  thnn_compile_options(${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME _cffi
                                             LIBRARY_OUTPUT_DIRECTORY "${folder}")
  target_include_directories(${target} PRIVATE "${PYTHNN_SOURCE_DIR}/_native" "${thnn}")
  target_link_libraries(${target} PRIVATE thnn_inside)
  # As for pythnn._cffi.
  set(options -O1 ${ARGN} -Wno-unused-parameter -Wno-missing-field-initializers
              -Wno-misleading-indentation)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND options -Wno-clobbered)
  endif()
  set_source_files_properties("${folder}/_cffi.c" PROPERTIES COMPILE_OPTIONS "${options}")
endfunction()

# pythnn_install_cuda_module(package): what the wheel of `package` holds, as component python-cuda.
# The folders of BLAS's and cuBLAS's wheels are next door.
function(pythnn_install_cuda_module package)
  if(NOT TARGET THCUNN)
    message(FATAL_ERROR "THNN_PYTHON_CUDA=${package} needs libTHCUNN: set THNN_CUDA=on")
  endif()
  get_property(objects GLOBAL PROPERTY THCUNN_OBJECTS)
  pythnn_add_cuda_module(pythnn_cuda "${package}" "${objects}")
  string(CONCAT next_door "$ORIGIN/../scipy_openblas32/lib;"
                "$ORIGIN/../nvidia/cu13/lib;$ORIGIN/../nvidia/cublas/lib")
  set_target_properties(
    pythnn_cuda PROPERTIES LINKER_LANGUAGE CUDA CUDA_RUNTIME_LIBRARY Static
                           CUDA_ARCHITECTURES "${THNN_CUDA_ARCHITECTURES}"
                           INSTALL_RPATH "${next_door}" INSTALL_RPATH_USE_LINK_PATH OFF)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${package}")
  install(TARGETS pythnn_cuda LIBRARY DESTINATION "${package}" COMPONENT python-cuda)
  install(FILES "${folder}/__init__.py" "${folder}/_table.py" "${folder}/_version.py"
                "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${package}" COMPONENT python-cuda)
endfunction()
