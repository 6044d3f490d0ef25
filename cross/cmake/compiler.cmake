# How all targets of the project are compiled: language, warnings, hardening, sanitizers, linker.
# A target gets these options by linking holdfast_options.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # CCACHE_SLOPPINESS is needed for the tests' precompiled header, CCACHE_BASEDIR for cache hits across
  # checkouts. With CCACHE_DEPEND a cache miss needs no separate preprocessor run.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

add_library(holdfast_options INTERFACE)
target_include_directories(holdfast_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(holdfast_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-qual
  -Wnon-virtual-dtor -Woverloaded-virtual -Wsuggest-override -Wextra-semi
  -Wimplicit-fallthrough -Wswitch-enum -Wundef -Wmissing-declarations -Wunused-result -Wvla
  # Designated initializers name only the members that differ from their defaults, on purpose.
  -Wno-missing-field-initializers
  -fno-omit-frame-pointer -ffunction-sections -fdata-sections
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
target_compile_definitions(holdfast_options INTERFACE _GLIBCXX_ASSERTIONS _FILE_OFFSET_BITS=64)
target_link_options(holdfast_options INTERFACE -Wl,-z,relro,-z,now -Wl,--gc-sections)

set(HOLDFAST_SIZE_BITS 64)
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  set(HOLDFAST_SIZE_BITS 32)
elseif(HOLDFAST_ILP32 AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
  # The x32 ABI, which every GCC for x86 knows: std::size_t and long have 32 bits as on armhf, without
  # a cross compiler and its libraries. Nothing is linked. The headers of the machine itself serve,
  # after those of the compiler; one of glibc exists for x32 only, and may be empty.
  set(HOLDFAST_SIZE_BITS 32)
  if(NOT EXISTS ${CMAKE_BINARY_DIR}/ilp32/gnu/stubs-x32.h)
    file(WRITE ${CMAKE_BINARY_DIR}/ilp32/gnu/stubs-x32.h "")
  endif()
  string(REGEX MATCH "^[0-9]+" HOLDFAST_GCC ${CMAKE_CXX_COMPILER_VERSION})
  target_compile_options(holdfast_options INTERFACE
    -mx32
    "SHELL:-idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/c++/${HOLDFAST_GCC}"
    "SHELL:-idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}"
    "SHELL:-idirafter ${CMAKE_BINARY_DIR}/ilp32")
endif()

# Warnings that only GCC has.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(holdfast_options INTERFACE
    -Wduplicated-cond -Wduplicated-branches -Wlogical-op
    # Files that are compiled together (together.cmake) are included like headers. GCC then warns of
    # types in anonymous namespaces and of names that shadow those of another file.
    $<IF:$<BOOL:$<TARGET_PROPERTY:HOLDFAST_TOGETHER>>,-Wno-subobject-linkage,-Wshadow>
    # On 32-bit ARM it tells that GCC 7 passed some arguments otherwise.
    -Wno-psabi
    # A false positive of GCC 12 for the coroutine frames that Asio recycles.
    -Wno-mismatched-new-delete
    # Some casts are needed only on 64-bit machines, some only on 32-bit ones: check the former.
    $<$<EQUAL:${HOLDFAST_SIZE_BITS},64>:-Wuseless-cast>)
else()
  # The C++ library's std::stable_sort uses a function that C++17 deprecated.
  target_compile_options(holdfast_options INTERFACE -Wno-deprecated-declarations)
endif()

if(HOLDFAST_WERROR)
  target_compile_options(holdfast_options INTERFACE -Werror)
endif()

if(HOLDFAST_SANITIZE)
  add_compile_options(-fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HOLDFAST_SANITIZE})
  if(HOLDFAST_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # Asio uses a fence, which ThreadSanitizer does not understand
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Without times in precompiled headers ccache finds what was compiled with the same header.
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
else()
  # Hardening of what is shipped. Sanitizers find what it prevents.
  target_compile_options(holdfast_options INTERFACE
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
    target_compile_options(holdfast_options INTERFACE -fcf-protection)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64")
    target_compile_options(holdfast_options INTERFACE -mbranch-protection=standard)
  endif()
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

# Beast's translation units need almost 1 GB of memory each: never compile two at a time.
set_property(GLOBAL PROPERTY JOB_POOLS heavy=1)
