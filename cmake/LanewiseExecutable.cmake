separate_arguments(Lanewise_SIMD_OPTIONS UNIX_COMMAND "${Lanewise_SIMD_FLAGS}")

# Gives a target of tests, perf or examples the project's SIMD flags, and its sources the language
# that this Kokkos is compiled in. Sources that g++ alone compiles are added by the caller.
function(lanewise_configure_target target)
  # nvcc knows no -m flags of its own; nvcc_wrapper forwards them.
  if(Lanewise_LANGUAGE STREQUAL "CUDA")
    list(TRANSFORM Lanewise_SIMD_OPTIONS PREPEND "-Xcompiler=")
    get_target_property(sources ${target} SOURCES)
    set_source_files_properties(${sources} PROPERTIES LANGUAGE CUDA)
  endif()
  target_compile_options(${target} PRIVATE ${Lanewise_SIMD_OPTIONS})
  # Slow flags have been warned of once, by LanewiseSummary.cmake.
  target_compile_definitions(${target} PRIVATE LANEWISE_ALLOW_SLOW_SIMD=1)
endfunction()
