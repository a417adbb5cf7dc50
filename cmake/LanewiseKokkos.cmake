# Finds Kokkos and Highway and works out which of the three ways compiles CUDA:
# nvcc_wrapper as the C++ compiler, kokkos_launch_compiler behind a plain one, or CMake's CUDA language.
include(${CMAKE_CURRENT_LIST_DIR}/LanewiseVersions.cmake)
if(NOT TARGET Kokkos::kokkos)
  find_package(Kokkos ${Lanewise_KOKKOS_RANGE} CONFIG REQUIRED)
endif()
lanewise_refused_kokkos(refused)
if(refused)
  message(FATAL_ERROR "${refused}")
endif()

set(Lanewise_LANGUAGE CXX)
if(Kokkos_COMPILE_LANGUAGE STREQUAL "CUDA")
  if(CMAKE_VERSION VERSION_LESS 3.25.2)
    message(FATAL_ERROR
      "This Kokkos was built as CMake language CUDA, which needs CMake >= 3.25.2; this is ${CMAKE_VERSION}. "
      "Use a newer CMake, or a Kokkos built with nvcc_wrapper.")
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${Kokkos_CUDA_ARCHITECTURES})
  enable_language(CUDA)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  set(Lanewise_LANGUAGE CUDA)
elseif(Lanewise_REQUIRE_CUDA_LANGUAGE)
  message(FATAL_ERROR
    "This preset needs a Kokkos built with Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE=ON "
    "(and CMake >= 3.25.2; this is ${CMAKE_VERSION}); the Kokkos in ${Kokkos_DIR} was built without.")
endif()

# Lower case, as in test names and labels.
set(Lanewise_KOKKOS_BACKENDS)
foreach(backend serial openmp threads cuda)
  string(TOUPPER ${backend} upper)
  if(Kokkos_ENABLE_${upper})
    list(APPEND Lanewise_KOKKOS_BACKENDS ${backend})
  endif()
endforeach()

set(Lanewise_HAS_HOST_BACKEND OFF)
if(Kokkos_ENABLE_SERIAL OR Kokkos_ENABLE_OPENMP OR Kokkos_ENABLE_THREADS)
  set(Lanewise_HAS_HOST_BACKEND ON)
  lanewise_name_highway()
  if(NOT TARGET hwy::hwy)
    find_package(hwy 1.3.0 CONFIG REQUIRED)
  endif()
endif()

# A program linked with Kokkos' CUDA backend does not even start without a driver. That is no failure:
# all programs are still built here, and run where a GPU answers.
set(Lanewise_PROGRAMS_RUN ON)
if(Kokkos_ENABLE_CUDA)
  execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE gpus ERROR_QUIET RESULT_VARIABLE failed)
  if(failed OR NOT gpus MATCHES "GPU 0")
    set(Lanewise_PROGRAMS_RUN OFF)
  endif()
endif()
