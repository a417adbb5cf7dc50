# A project of its own finds Lanewise in the build tree and in an installation, builds and runs.
set(dir ${CMAKE_CURRENT_BINARY_DIR}/consumer)
add_test(NAME consumer.install
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${dir}/prefix)
set_tests_properties(consumer.install PROPERTIES LABELS consumer FIXTURES_SETUP installation)

# Lists travel through ctest's command line only when their semicolons are hidden from it.
string(REPLACE ";" "\\;" prefix_path "${CMAKE_PREFIX_PATH}")
set(run)
foreach(from build_tree installation)
  set(package ${PROJECT_BINARY_DIR})
  if(from STREQUAL "installation")
    set(package ${dir}/prefix/${CMAKE_INSTALL_LIBDIR}/cmake/Lanewise)
  endif()
  if(Lanewise_PROGRAMS_RUN)
    set(run --test-command ${dir}/${from}/consumer)
  endif()
  add_test(NAME consumer.${from} COMMAND ${CMAKE_CTEST_COMMAND}
    --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/consumer ${dir}/${from}
    --build-generator ${CMAKE_GENERATOR}
    --build-options -DLanewise_DIR=${package} "-DCMAKE_PREFIX_PATH=${prefix_path}"
      -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
      "-DCMAKE_CXX_FLAGS=${Lanewise_SIMD_FLAGS}"
      "-DCMAKE_CXX_FLAGS_RELEASE=${CMAKE_CXX_FLAGS_RELEASE}"
    ${run})
  set_tests_properties(consumer.${from} PROPERTIES
    LABELS consumer FIXTURES_REQUIRED installation TIMEOUT 600)
endforeach()
