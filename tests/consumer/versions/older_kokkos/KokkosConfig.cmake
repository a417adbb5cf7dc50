add_library(Kokkos::kokkos INTERFACE IMPORTED)
