# A project of its own finds Lanewise in the build tree and in an installation, builds and runs.
set(dir ${CMAKE_CURRENT_BINARY_DIR}/consumer)
add_test(NAME consumer.install
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${dir}/prefix)
set_tests_properties(consumer.install PROPERTIES LABELS consumer FIXTURES_SETUP installation)

# Lists travel through ctest's command line only when their semicolons are hidden from it.
string(REPLACE ";" "\\;" prefix_path "${CMAKE_PREFIX_PATH}")
set(run)
# What is found does not depend on the compiler, and nvcc is slow: it gets the installation alone.
set(packages build_tree installation)
if(Kokkos_ENABLE_CUDA AND NOT Lanewise_TEST_FULL)
  set(packages installation)
endif()
foreach(from IN LISTS packages)
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

# In the same build, where Lanewise's headers are no system headers: with warnings that are errors.
if(NOT Kokkos_ENABLE_CUDA)
  add_test(NAME consumer.subdirectory COMMAND ${CMAKE_CTEST_COMMAND}
    --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/consumer ${dir}/subdirectory
    --build-generator ${CMAKE_GENERATOR}
    --build-options -Dconsumer_ADD=${PROJECT_SOURCE_DIR} -DKokkos_DIR=${Kokkos_DIR} -Dhwy_DIR=${hwy_DIR}
      -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
      "-DCMAKE_CXX_FLAGS=${Lanewise_SIMD_FLAGS} -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Werror"
      "-DCMAKE_CXX_FLAGS_RELEASE=${CMAKE_CXX_FLAGS_RELEASE}"
    --test-command ${dir}/subdirectory/consumer)
  set_tests_properties(consumer.subdirectory PROPERTIES LABELS consumer TIMEOUT 600)
endif()

# What is said where another Kokkos is found, Highway is built as a part of the project, or the component compiled is
# asked for.
set(range "Kokkos 5\\.0 up to, not including, 5\\.3")
set(expected_found_before "needs[ \n]+${range};[ \n]+found[ \n]+is 4\\.7\\.1 in")
set(expected_on_the_path "passed[ \n]+over:[ \n]+4\\.7\\.1.*taken[ \n]+is[ \n]+${Kokkos_VERSION}[ \n]+in")
set(expected_highway_in_the_build "Lanewise ${PROJECT_VERSION} with Kokkos ${Kokkos_VERSION}")
set(versions found_before on_the_path highway_in_the_build)
if(TARGET Lanewise::compiled)
  set(expected_compiled "${expected_highway_in_the_build}")
  set(expected_compiled_for_other_spaces "built[ \n]+with[ \n]+Kokkos[ \n]+${Kokkos_VERSION}.*found[ \n]+is.*\\(OTHER\\)")
  list(APPEND versions compiled compiled_for_other_spaces)
else()
  set(expected_compiled "installed[ \n]+without[ \n]+Lanewise::compiled")
  list(APPEND versions compiled)
endif()
foreach(what IN LISTS versions)
  add_test(NAME consumer.versions.${what} COMMAND ${CMAKE_COMMAND} --fresh -DWHAT=${what}
    -S ${CMAKE_CURRENT_SOURCE_DIR}/consumer/versions -B ${dir}/versions.${what}
    -DLanewise_DIR=${dir}/prefix/${CMAKE_INSTALL_LIBDIR}/cmake/Lanewise -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    -DBUILT_WITH=${Kokkos_DIR})
  set_tests_properties(consumer.versions.${what} PROPERTIES LABELS consumer TIMEOUT 120
    FIXTURES_REQUIRED installation PASS_REGULAR_EXPRESSION "${expected_${what}}")
endforeach()

# The benchmarks are installed where they are built; shared libraries are found from there.
if(TARGET bench_algorithms AND NOT Lanewise_PERF_SYNTAX_ONLY AND Lanewise_PROGRAMS_RUN)
  add_test(NAME consumer.perf
    COMMAND ${dir}/prefix/${CMAKE_INSTALL_LIBEXECDIR}/lanewise/bench_algorithms --benchmark_list_tests)
  set_tests_properties(consumer.perf PROPERTIES LABELS consumer TIMEOUT 60
    FIXTURES_REQUIRED installation PASS_REGULAR_EXPRESSION "reduce/")
endif()

# The message about slow SIMD flags, which clang keeps back in installed headers, and the targets that add better ones.
if(Lanewise_HAS_HOST_BACKEND AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
    AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  foreach(units baseline haswell_alone silent)
    add_test(NAME consumer.simd.${units} COMMAND ${CMAKE_CTEST_COMMAND}
      --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/consumer/simd ${dir}/simd.${units}
      --build-generator ${CMAKE_GENERATOR} --build-target ${units}
      --build-options -DLanewise_DIR=${package} "-DCMAKE_PREFIX_PATH=${prefix_path}"
        -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
    set(heard "FAIL_REGULAR_EXPRESSION;error:|CMake Error;PASS_REGULAR_EXPRESSION")
    if(units STREQUAL "silent")
      set(heard FAIL_REGULAR_EXPRESSION)
    endif()
    set_tests_properties(consumer.simd.${units} PROPERTIES LABELS consumer TIMEOUT 600
      FIXTURES_REQUIRED installation ${heard} "#pragma message: Lanewise's host code")
  endforeach()
endif()
