# The libraries that the project uses. There are no others.

find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(tl-expected REQUIRED)
find_library(NGHTTP2_LIBRARY nghttp2 REQUIRED)
find_path(NGHTTP2_INCLUDE_DIR nghttp2/nghttp2.h REQUIRED)
add_library(nghttp2::nghttp2 UNKNOWN IMPORTED GLOBAL)
set_target_properties(nghttp2::nghttp2 PROPERTIES
  IMPORTED_LOCATION ${NGHTTP2_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${NGHTTP2_INCLUDE_DIR})
# Static, so that programs contain only the functions they use and load one library less.
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)
# Static, so that programs contain only what they use of the lite runtime: nothing in the edge agent.
set(Protobuf_USE_STATIC_LIBS ON)
find_package(Protobuf 3.21 REQUIRED)
if(HOLDFAST_TESTS)
  find_package(GTest REQUIRED)
endif()
