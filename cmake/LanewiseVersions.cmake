# The Kokkos and the Highway that Lanewise takes, in its own build and for those who find it.
set(Lanewise_KOKKOS_RANGE 5.0...<5.3)
set(Lanewise_KOKKOS_NEEDED "Kokkos 5.0 up to, not including, 5.3")

# lanewise_refused_kokkos(<result>): why the Kokkos that was found, or that a project has found before, will not do; or
# nothing.
function(lanewise_refused_kokkos result)
  set(${result} "" PARENT_SCOPE)
  # Of one that is built as a part of the project only the headers know.
  if(Kokkos_VERSION AND (Kokkos_VERSION VERSION_LESS 5.0 OR NOT Kokkos_VERSION VERSION_LESS 5.3))
    set(${result} "Lanewise needs ${Lanewise_KOKKOS_NEEDED}; found is ${Kokkos_VERSION} in ${Kokkos_DIR}" PARENT_SCOPE)
  endif()
endfunction()

# lanewise_passed_over_kokkos(<result>): the packages that find_package has seen and left, after a search in vain.
function(lanewise_passed_over_kokkos result)
  set(seen)
  foreach(config version IN ZIP_LISTS Kokkos_CONSIDERED_CONFIGS Kokkos_CONSIDERED_VERSIONS)
    list(APPEND seen "${version} (${config})")
  endforeach()
  list(JOIN seen ", " seen)
  set(${result} "${seen}" PARENT_SCOPE)
endfunction()

# Highway that is built as a part of the project has a target without its namespace.
function(lanewise_name_highway)
  if(TARGET hwy AND NOT TARGET hwy::hwy)
    add_library(hwy::hwy ALIAS hwy)
  endif()
endfunction()
