# The SIMD targets that host.cpp is compiled for, here and for perf/bench_warp, with flags that leave nothing open: what
# a wrapper of the compiler puts before them changes nothing.
set(codegen_targets avx512 avx2 sse4)
set(flags_avx512 -march=icelake-server -mtune=icelake-server)
set(flags_avx2 -march=haswell -mtune=haswell -maes -mpclmul)
set(flags_sse4 -march=x86-64 -mtune=generic -msse4.2 -maes -mpclmul)

# Macros that g++ defines with these flags, and some of those that it defines with more or other ones.
set(defined_avx512 __AVX512VBMI2__ __icelake_server__ __tune_icelake_server__)
set(undefined_avx512 __AVX512BF16__ __AVXVNNI__)
set(defined_avx2 __AVX2__ __haswell__ __tune_haswell__)
set(undefined_avx2 __AVX512F__)
set(defined_sse4 __SSE4_2__ __k8__)
set(undefined_sse4 __AVX__ __tune_[a-z0-9_]+)

# codegen_flags_added(<result> <target> <compiler> [<flag>...]): macros that betray other flags than the target's. The
# compiler may add some, as Spack's and other wrappers do.
function(codegen_flags_added result target)
  set(wrong)
  execute_process(COMMAND ${ARGN} ${flags_${target}} -dM -E -x c++ /dev/null
    OUTPUT_VARIABLE macros ERROR_VARIABLE said RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${ARGN} cannot preprocess for ${target}: ${said}")
  endif()
  foreach(macro IN LISTS defined_${target})
    if(NOT macros MATCHES "#define ${macro} ")
      list(APPEND wrong "no ${macro}")
    endif()
  endforeach()
  foreach(macro IN LISTS undefined_${target})
    if(macros MATCHES "#define (${macro}) ")
      list(APPEND wrong ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${result} "${wrong}" PARENT_SCOPE)
endfunction()

# codegen_find_targets(<result>): the targets that this compiler with CMAKE_CXX_FLAGS leaves as they are. Only g++ is
# asked, for whose macros these are.
function(codegen_find_targets result)
  set(${result} "${codegen_targets}" PARENT_SCOPE)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  set(found)
  separate_arguments(given UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  foreach(target IN LISTS codegen_targets)
    codegen_flags_added(added ${target} ${CMAKE_CXX_COMPILER} ${given})
    if(added)
      message(STATUS "  no code for ${target} is counted or timed: flags are added to its own (${added})")
    else()
      list(APPEND found ${target})
    endif()
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# codegen_add_library(<name> <target> [<flag>...]): host.cpp for a target, without Kokkos, which may export flags
function(codegen_add_library name target)
  add_library(${name} OBJECT ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/host.cpp)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:lanewise,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${name} PRIVATE hwy::hwy)
  target_compile_options(${name} PRIVATE ${flags_${target}} ${ARGN})
endfunction()
