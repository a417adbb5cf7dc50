# Says what this build will be. The SIMD target is asked from Highway, because flags mislead:
# -march=haswell alone is SSSE3, since Highway's SSE4 and up also need AES and PCLMUL.
function(lanewise_find_simd_target result)
  set(key "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_FLAGS} ${Lanewise_SIMD_FLAGS} ${hwy_DIR}")
  if(NOT Lanewise_simd_target_key STREQUAL key)
    set(name unknown)
    set(dir ${PROJECT_BINARY_DIR}/CMakeFiles/lanewise_simd_target)
    separate_arguments(flags UNIX_COMMAND "${Lanewise_SIMD_FLAGS}")
    # A target of this build, which is not imported, is unknown to the other project that try_compile makes.
    set(highway LINK_LIBRARIES hwy::hwy)
    get_target_property(imported hwy::hwy IMPORTED)
    if(NOT imported)
      set(highway CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${hwy_SOURCE_DIR})
    endif()
    try_compile(ok ${dir} ${PROJECT_SOURCE_DIR}/cmake/simd_target.cpp
      ${highway} COMPILE_DEFINITIONS ${flags}
      COPY_FILE ${dir}/simd_target.bin OUTPUT_VARIABLE log)
    if(ok)
      file(STRINGS ${dir}/simd_target.bin found REGEX "lanewise_simd_target:")
      string(REGEX REPLACE ".*lanewise_simd_target:([A-Z0-9_]+).*" "\\1" name "${found}")
    else()
      message(WARNING "The SIMD target of Lanewise_SIMD_FLAGS='${Lanewise_SIMD_FLAGS}' "
        "could not be determined:\n${log}")
    endif()
    set(Lanewise_simd_target ${name} CACHE INTERNAL "Highway's name of the host SIMD target")
    set(Lanewise_simd_target_key ${key} CACHE INTERNAL "What the SIMD target was determined for")
  endif()
  set(${result} ${Lanewise_simd_target} PARENT_SCOPE)
endfunction()

message(STATUS "Lanewise ${PROJECT_VERSION}")
message(STATUS "  Kokkos ${Kokkos_VERSION} (${Kokkos_DIR}) backends: ${Lanewise_KOKKOS_BACKENDS}")
if(Lanewise_HAS_HOST_BACKEND)
  lanewise_find_simd_target(simd_target)
  message(STATUS "  SIMD target of tests, perf, examples: ${simd_target} (flags '${Lanewise_SIMD_FLAGS}')")
  if(PROJECT_IS_TOP_LEVEL AND simd_target MATCHES "^(SSSE3|SSE2|EMU128|SCALAR)$")
    message(WARNING "The host SIMD target is ${simd_target}: slow. Add for instance "
      "-DLanewise_SIMD_FLAGS='-march=haswell -maes -mpclmul' (AVX2) or '-march=icelake-server' "
      "(AVX-512). Your own targets get them by linking Lanewise::avx2 or Lanewise::avx512.")
  endif()
endif()
if(Kokkos_ENABLE_CUDA)
  message(STATUS "  CUDA architectures: ${Kokkos_CUDA_ARCHITECTURES}, compiled by "
    "${CMAKE_${Lanewise_LANGUAGE}_COMPILER} as ${Lanewise_LANGUAGE}")
  if(NOT Lanewise_PROGRAMS_RUN)
    message(STATUS "  no GPU answers: programs are built, not run")
  endif()
endif()
