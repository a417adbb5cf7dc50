set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Lanewise)

foreach(room IN LISTS Lanewise_ROOMS)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room}/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/include/lanewise/version.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lanewise)

set(targets lanewise lanewise_avx2 lanewise_avx512 lanewise_kernels)
if(TARGET lanewise_compiled)
  list(APPEND targets lanewise_compiled)
endif()
install(TARGETS ${targets} EXPORT LanewiseTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT LanewiseTargets NAMESPACE Lanewise:: DESTINATION ${package_dir})
# As a part of another project it may have dependencies that are parts of it, too, and in no package.
if(PROJECT_IS_TOP_LEVEL)
  export(EXPORT LanewiseTargets NAMESPACE Lanewise::
    FILE ${PROJECT_BINARY_DIR}/LanewiseTargets.cmake)
endif()

configure_package_config_file(cmake/LanewiseConfig.cmake.in
  ${PROJECT_BINARY_DIR}/LanewiseConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/LanewiseConfigVersion.cmake
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
file(COPY ${PROJECT_SOURCE_DIR}/cmake/LanewiseVersions.cmake ${PROJECT_SOURCE_DIR}/cmake/LanewiseKernels.cmake
  DESTINATION ${PROJECT_BINARY_DIR})
install(FILES ${PROJECT_BINARY_DIR}/LanewiseConfig.cmake
              ${PROJECT_SOURCE_DIR}/cmake/LanewiseVersions.cmake
              ${PROJECT_SOURCE_DIR}/cmake/LanewiseKernels.cmake
              ${PROJECT_BINARY_DIR}/LanewiseConfigVersion.cmake
  DESTINATION ${package_dir})
