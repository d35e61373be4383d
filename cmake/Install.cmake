# Headers, libraries and the package that find_package(THNN) finds.
include(CMakePackageConfigHelpers)

set(headers "${CMAKE_INSTALL_INCLUDEDIR}/THNN")
install(FILES THNN.h THNNState.h THNNExtra.h THNNSimd.h DESTINATION "${headers}")
install(FILES generic/THNN.h generic/THNNExtra.h generic/THNNExtraModules.h
        DESTINATION "${headers}/generic")

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/THNN")
set(installed THNN)
if(THNN_TH STREQUAL "bundled")
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
