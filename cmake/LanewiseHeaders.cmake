# The rooms and their headers. Headers are included flat, so a path may exist in one room only.
set(Lanewise_ROOMS
  core backends backends/cuda backends/simd backends/emulated algorithms structures)

set(Lanewise_HEADERS)
set(rooms_with_headers)
foreach(room IN LISTS Lanewise_ROOMS)
  set(base ${PROJECT_SOURCE_DIR}/${room}/include)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${base} ${base}/*.hpp)
  if(headers)
    list(APPEND rooms_with_headers ${room})
  endif()
  foreach(header IN LISTS headers)
    if(DEFINED owner_of_${header})
      message(FATAL_ERROR "Header paths must be unique over all rooms: ${room}/include/${header} "
        "is also in ${owner_of_${header}}/include")
    endif()
    set(owner_of_${header} ${room})
    list(APPEND Lanewise_HEADERS ${header})
  endforeach()
endforeach()
# A room without headers has no include folder in a checkout, and importers refuse a missing one.
set(Lanewise_ROOMS ${rooms_with_headers})
