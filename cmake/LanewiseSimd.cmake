# Lanewise::avx2 and Lanewise::avx512: the library with the flags of a host SIMD target of x86, for projects that choose
# none of their own. Highway's targets from SSE4 up also need AES and PCLMUL, which -march=haswell alone lacks.
set(Lanewise_FLAGS_avx2 -march=haswell -maes -mpclmul)
set(Lanewise_FLAGS_avx512 -march=icelake-server)

foreach(simd avx2 avx512)
  add_library(lanewise_${simd} INTERFACE)
  add_library(Lanewise::${simd} ALIAS lanewise_${simd})
  set_target_properties(lanewise_${simd} PROPERTIES EXPORT_NAME ${simd})
  target_link_libraries(lanewise_${simd} INTERFACE lanewise)
  # nvcc_wrapper is a C++ compiler to CMake, and forwards them; nvcc alone knows no -m flags.
  list(TRANSFORM Lanewise_FLAGS_${simd} PREPEND "-Xcompiler=" OUTPUT_VARIABLE forwarded)
  target_compile_options(lanewise_${simd} INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:${Lanewise_FLAGS_${simd}}>"
    "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${forwarded}>")
endforeach()
