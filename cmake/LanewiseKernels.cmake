# Lanewise::kernels: the library for units with kernels of a project's own, in any namespace. nvcc compiles a kernel's
# template for the host and for the device, and reports each call of a function that one of them lacks (20011, 20014,
# and 20013, 20015 where it is constexpr). These reports are silenced for such units.
function(lanewise_silence_nvcc target)
  if(Kokkos_CXX_COMPILER_ID STREQUAL "NVIDIA")
    foreach(report 20011 20013 20014 20015)
      target_compile_options(${target} INTERFACE "$<BUILD_INTERFACE:SHELL:-Xcudafe --diag_suppress=${report}>")
    endforeach()
  endif()
endfunction()
