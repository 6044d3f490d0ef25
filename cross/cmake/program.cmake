# holdfast_library(NAME): adds a library of the product. With HOLDFAST_TOGETHER the files of a folder are compiled
# together. Installed programs are never built that way, because the linker takes whole object files from an archive
# and so would include unused neighbours; their builds find a file that forgets an include.
function(holdfast_library name)
  add_library(${name} STATIC)
  if(HOLDFAST_TOGETHER)
    holdfast_compile_together(${name})
  endif()
endfunction()

# holdfast_mostly_waits(NAME): does not optimize a library under clang's sanitizers, whose optimized code takes three
# times as long to compile. That pays off only for code that the tests call a million times, such as the rules.
function(holdfast_mostly_waits name)
  if(HOLDFAST_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${name} PRIVATE -O0)
  endif()
endfunction()

# holdfast_comes_first(NAME): puts a library in front of the objects of test programs on the command line of the linker. Of
# an inline function that several files contain, the linker keeps the first copy; that of a test is not optimized and does
# not detect undefined behaviour. Libraries that mostly wait are not optimized either, so they do not come first.
function(holdfast_comes_first name)
  target_link_options(${name} INTERFACE
    $<$<BOOL:$<TARGET_PROPERTY:HOLDFAST_IS_TEST>>:$<TARGET_FILE:${name}>>)
endfunction()

# holdfast_precompile(NAME): compiles a library of many files with precompiled.h, in builds for tests. The others, release
# and tidy among them, find a file that forgets one of these includes.
function(holdfast_precompile name)
  if(HOLDFAST_TOGETHER AND HOLDFAST_TESTS)
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cross/cmake/precompiled.h)
  endif()
endfunction()

# holdfast_program(NAME SOURCE LIBRARY): adds a program that is shipped. The release preset also puts a
# stripped copy into bin/stripped; the file in bin keeps its symbols.

function(holdfast_program name source library)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${library})
  if(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel")
    set(stripped ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/stripped)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E make_directory ${stripped}
      COMMAND ${CMAKE_STRIP} -o ${stripped}/${name} $<TARGET_FILE:${name}>)
  endif()
endfunction()
