# 64-bit ARM (AArch64).
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(architecture arm64)
set(triple aarch64-linux-gnu)
set(emulator qemu-aarch64-static)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
