# Headers, libraries and the package that find_package(THNN) finds.
include(CMakePackageConfigHelpers)

set(headers "${CMAKE_INSTALL_INCLUDEDIR}/THNN")
install(FILES THNN.h THNNState.h THNNExtra.h THNNSimd.h DESTINATION "${headers}")
install(FILES generic/THNN.h generic/THNNExtra.h generic/THNNExtraModules.h
              generic/THNNExtraSequences.h
        DESTINATION "${headers}/generic")

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/THNN")
set(installed THNN)
if(THNN_TH STREQUAL "bundled")
  install(FILES THNNCaller.h DESTINATION "${headers}")
  list(APPEND installed TH)
endif()
install(TARGETS ${installed} EXPORT THNNTargets)
install(EXPORT THNNTargets NAMESPACE THNN:: DESTINATION "${package}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/THNNConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/THNNConfig.cmake"
                              INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/THNNConfigVersion.cmake"
                                 COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/THNNConfig.cmake"
              "${PROJECT_BINARY_DIR}/THNNConfigVersion.cmake" DESTINATION "${package}")

# For builds without CMake. What is private is for programs that link static libraries.
file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /)
string(REGEX REPLACE "/$" "" up "${up}")
set(pkgconfig_requires "")
if(THNN_TH STREQUAL "bundled")
  set(pkgconfig_requires th-pythnn)
  # A program finds BLAS where libTH does: at its place of build time.
  get_target_property(pkgconfig_blas CBLAS::CBLAS INTERFACE_LINK_LIBRARIES)
  get_target_property(folders TH INSTALL_RPATH)
  foreach(folder IN LISTS folders)
    if(folder)
      list(APPEND pkgconfig_blas "-Wl,-rpath,${folder}")
    endif()
  endforeach()
  list(JOIN pkgconfig_blas " " pkgconfig_blas)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/th-pythnn.pc.in" "${PROJECT_BINARY_DIR}/th-pythnn.pc"
                 @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/th-pythnn.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/thnn.pc.in" "${PROJECT_BINARY_DIR}/thnn.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/thnn.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(NOT BUILD_SHARED_LIBS)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/FindCBLAS.cmake" DESTINATION "${package}")
endif()
