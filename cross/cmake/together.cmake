# Compiles several source files of one folder as one translation unit (a unity build), so that their
# headers are read and templates instantiated only once. The files then share one anonymous
# namespace, so names in it must be unique within a folder.
#
# CMake's own unity builds include the files by absolute path, so ccache would never find in one
# checkout what another has compiled.

set(HOLDFAST_TOGETHER_MAX 16 CACHE STRING "Source files of a folder that are compiled together")

# holdfast_compile_together(TARGET): applies to all sources that the target has at the end of the
# configuration, except those with properties of their own (COMPILE_OPTIONS, JOB_POOL_COMPILE).
function(holdfast_compile_together target)
  set_target_properties(${target} PROPERTIES HOLDFAST_TOGETHER ON)
  cmake_language(EVAL CODE
    "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL _holdfast_group ${target})")
endfunction()

function(_holdfast_group target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(home ${target} SOURCE_DIR)
  set(names "")
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
    list(APPEND names ${name})
    list(APPEND files_${name} ${source})
  endforeach()
  list(REMOVE_DUPLICATES names)
  foreach(name IN LISTS names)
    _holdfast_write_groups(${target} ${name} ${files_${name}})
  endforeach()
endfunction()

# _holdfast_write_groups(TARGET NAME FILE...): compiles the files of one folder in groups of equal size.
function(_holdfast_write_groups target name)
  list(LENGTH ARGN count)
  math(EXPR groups "(${count} + ${HOLDFAST_TOGETHER_MAX} - 1) / ${HOLDFAST_TOGETHER_MAX}")
  set(index 0)
  foreach(file IN LISTS ARGN)
    math(EXPR group "${index} * ${groups} / ${count}")
    math(EXPR index "${index} + 1")
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE path)
    string(APPEND content_${group} "#include \"${path}\"\n")
  endforeach()
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES HEADER_FILE_ONLY ON)
  math(EXPR last "${groups} - 1")
  foreach(group RANGE ${last})
    set(together ${CMAKE_BINARY_DIR}/together/${target}/${name}_${group}.cpp)
    file(CONFIGURE OUTPUT ${together} CONTENT "${content_${group}}" @ONLY)
    target_sources(${target} PRIVATE ${together})
  endforeach()
endfunction()
