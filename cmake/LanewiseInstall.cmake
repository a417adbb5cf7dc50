set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Lanewise)

foreach(room IN LISTS Lanewise_ROOMS)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room}/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/include/lanewise/version.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lanewise)

install(TARGETS lanewise lanewise_avx2 lanewise_avx512 EXPORT LanewiseTargets)
install(EXPORT LanewiseTargets NAMESPACE Lanewise:: DESTINATION ${package_dir})
export(EXPORT LanewiseTargets NAMESPACE Lanewise::
  FILE ${PROJECT_BINARY_DIR}/LanewiseTargets.cmake)

configure_package_config_file(cmake/LanewiseConfig.cmake.in
  ${PROJECT_BINARY_DIR}/LanewiseConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/LanewiseConfigVersion.cmake
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/LanewiseConfig.cmake
              ${PROJECT_BINARY_DIR}/LanewiseConfigVersion.cmake
  DESTINATION ${package_dir})
