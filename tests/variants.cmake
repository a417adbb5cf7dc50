# Suites that the emulated backend also runs with other warps: with lanes that run for themselves, with 8 or 64 lanes,
# or with algorithms as they are mapped for hosts. <room>/<family>/<file> is test_<file>.cpp or check_<file>.hpp there;
# the program is <variant>_<file>.emulated.
set(lanes
  core/league/league_barrier core/league/league_sums core/league/queue
  core/team/scan_circuits core/team/team_algorithms core/team/team_scan
  core/tile/expansion core/tile/merge_tile core/tile/tile_sort core/tile/windows core/warp/search
  algorithms/common/in_place algorithms/common/zipped
  algorithms/graphs/bfs algorithms/graphs/bfs_batch algorithms/graphs/connected_components
  algorithms/graphs/for_each_edge algorithms/graphs/sssp
  algorithms/merge/merges algorithms/papers/bfs_by_frontiers algorithms/papers/string_fingerprints
  algorithms/papers/team_reduce algorithms/search/searches
  algorithms/segments/equal_segments algorithms/segments/reduce_by_key algorithms/segments/runs
  algorithms/segments/segmented_scan algorithms/segments/separate_segments
  algorithms/select/select algorithms/select/three_way_partition
  algorithms/sequence/adjacent algorithms/sequence/min_max_element algorithms/sort/top_k_everywhere
  algorithms/strings/mismatch_search algorithms/strings/non_overlapping algorithms/strings/search_stream
  algorithms/strings/string_rows algorithms/strings/string_search algorithms/strings/string_set_rows
  algorithms/strings/string_set_search)
set(width_8
  core/team/scan_circuits core/team/team_scan
  core/tile/merge_tile core/tile/tile_sort core/tile/windows core/warp/search
  algorithms/common/algorithms algorithms/merge/merges algorithms/papers/team_reduce algorithms/search/searches
  algorithms/sort/top_k_everywhere)
set(width_64 ${width_8})
set(host_mapping
  core/tile/expansion core/tile/merge_tile core/tile/tile_sort core/tile/windows core/warp/search
  algorithms/common/in_place algorithms/common/zipped
  algorithms/graphs/bfs algorithms/graphs/bfs_batch algorithms/graphs/connected_components
  algorithms/graphs/for_each_edge algorithms/graphs/pagerank algorithms/graphs/sssp
  algorithms/merge/merges algorithms/merge/set_operations algorithms/papers/string_fingerprints
  algorithms/search/searches algorithms/select/three_way_partition
  algorithms/sequence/adjacent algorithms/sequence/deterministic
  algorithms/sort/host_radix_sort algorithms/sort/segmented_sort algorithms/sort/top_k_everywhere
  algorithms/strings/mismatch_search algorithms/strings/non_overlapping algorithms/strings/search_stream
  algorithms/strings/string_rows algorithms/strings/string_search algorithms/strings/string_set_rows
  algorithms/strings/string_set_search
  structures/lsm/lsm_map_types)

# lanewise_variants(<room> <variable>): writes a source for each variant of a room's suites
function(lanewise_variants room result)
  set(sources)
  set(define_lanes LANEWISE_TEST_LANES)
  set(define_width_8 "LANEWISE_TEST_WIDTH 8")
  set(define_width_64 "LANEWISE_TEST_WIDTH 64")
  set(define_host_mapping LANEWISE_TEST_HOST_MAPPING)
  foreach(variant lanes width_8 width_64 host_mapping)
    foreach(suite IN LISTS ${variant})
      if(NOT suite MATCHES "^${room}/")
        continue()
      endif()
      get_filename_component(folder ${suite} DIRECTORY)
      get_filename_component(name ${suite} NAME)
      set(file ${folder}/test_${name}.cpp)
      if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
        set(file ${folder}/check_${name}.hpp)
      endif()
      set(source ${CMAKE_CURRENT_BINARY_DIR}/variants/${folder}/test_${variant}_${name}.emulated.cpp)
      file(CONFIGURE OUTPUT ${source} CONTENT "#define ${define_${variant}}\n#include <${file}>\n")
      list(APPEND sources ${source})
    endforeach()
  endforeach()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()
