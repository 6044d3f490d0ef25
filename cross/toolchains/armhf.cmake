# 32-bit ARM with a floating point unit (ARMv7).
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(architecture armhf)
set(triple arm-linux-gnueabihf)
set(emulator qemu-arm-static)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
