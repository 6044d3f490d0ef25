# Compiles several source files of one folder as one translation unit (a unity build), so that their
# headers are read and templates instantiated only once. The files then share one anonymous
# namespace, so names in it must be unique within a folder.

set(HOLDFAST_TOGETHER_MAX 8 CACHE STRING "Source files of a folder that are compiled together")

# holdfast_compile_together(TARGET): applies to all sources that the target has at the end of the
# configuration, except those with properties of their own (COMPILE_OPTIONS, JOB_POOL_COMPILE).
function(holdfast_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  cmake_language(EVAL CODE
    "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL _holdfast_group ${target})")
endfunction()

function(_holdfast_group target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(home ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${home} NORMALIZE)
    cmake_path(IS_PREFIX CMAKE_SOURCE_DIR ${source} ours)
    cmake_path(IS_PREFIX CMAKE_BINARY_DIR ${source} generated)
    get_source_file_property(options ${source} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    get_source_file_property(pool ${source} TARGET_DIRECTORY ${target} JOB_POOL_COMPILE)
    if(NOT ours OR generated OR options OR pool OR NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER ${folder} name)
    if(NOT DEFINED count_${name})
      set(count_${name} 0)
    endif()
    math(EXPR group "${count_${name}} / ${HOLDFAST_TOGETHER_MAX}")
    math(EXPR count_${name} "${count_${name}} + 1")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target}
      PROPERTIES UNITY_GROUP ${name}_${group})
  endforeach()
endfunction()
