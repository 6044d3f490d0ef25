# How every one of our targets is compiled: language, warnings, hardening, sanitizers, linker.
# Targets take it by linking holdfast_options.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # sloppiness: needed for the tests' precompiled header; base_dir: hits across checkouts; depend:
  # a miss is not preprocessed apart.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

add_library(holdfast_options INTERFACE)
target_include_directories(holdfast_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(holdfast_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-qual
  -Wnon-virtual-dtor -Woverloaded-virtual -Wsuggest-override -Wextra-semi
  -Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wimplicit-fallthrough
  -Wswitch-enum -Wundef -Wmissing-declarations -Wunused-result -Wvla
  # Files that are compiled together (together.cmake) look to GCC like headers, where a type in an
  # anonymous namespace would be a mistake, and like one file that shadows its own names.
  $<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,-Wno-subobject-linkage,-Wshadow>
  # GCC 12 mistakes Asio's recycled coroutine frames for a mismatch.
  -Wno-mismatched-new-delete
  # Designated initializers name what differs from the defaults; the rest is meant.
  -Wno-missing-field-initializers
  -fno-omit-frame-pointer -fstack-protector-strong -fstack-clash-protection
  -ffunction-sections -fdata-sections
  # A cast that 64 bits need is useless with 32, and the other way round: the former are judged.
  $<$<EQUAL:${CMAKE_SIZEOF_VOID_P},8>:-Wuseless-cast>
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
target_compile_definitions(holdfast_options INTERFACE _GLIBCXX_ASSERTIONS _FILE_OFFSET_BITS=64)
target_link_options(holdfast_options INTERFACE -Wl,-z,relro,-z,now -Wl,--gc-sections)

if(HOLDFAST_WERROR)
  target_compile_options(holdfast_options INTERFACE -Werror)
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
  target_compile_options(holdfast_options INTERFACE -fcf-protection)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64")
  target_compile_options(holdfast_options INTERFACE -mbranch-protection=standard)
endif()

if(HOLDFAST_SANITIZE)
  add_compile_options(-fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize-recover=all)
  if(HOLDFAST_SANITIZE MATCHES "undefined")
    # What these find ends in a crash that AddressSanitizer reports; they cost a third of the build.
    add_compile_options(-fno-sanitize=null,vptr,object-size,alignment)
    add_compile_options(-fno-sanitize=nonnull-attribute,returns-nonnull-attribute)
  endif()
  add_link_options(-fsanitize=${HOLDFAST_SANITIZE})
else()
  target_compile_options(holdfast_options INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()

# holdfast_precompile(TARGET HEADER...): what most of the target's files include, read once. Only
# where the sanitizers are: the other builds show which file forgets an include, and their
# optimizer's warnings take a precompiled system header for ours. Neighbours are compiled together
# there, and in the tests for another architecture, where everything is always built anew; never in
# what is installed: the linker takes a whole file from an archive, and all of its neighbours.
function(holdfast_precompile target)
  if(HOLDFAST_SANITIZE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
  if(HOLDFAST_SANITIZE OR (CMAKE_CROSSCOMPILING AND HOLDFAST_TESTS))
    holdfast_compile_together(${target})
  endif()
endfunction()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

# Beast's translation units take most of a gigabyte each; never two at a time on a small machine.
set_property(GLOBAL PROPERTY JOB_POOLS heavy=1)
