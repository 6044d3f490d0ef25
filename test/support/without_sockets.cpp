// Compiled into each program of unit tests: none of its tests may open a socket of the kernel.

#include "test/support/virtual_time.h"

namespace holdfast::test {

// NOLINTNEXTLINE(cert-err58-cpp)
[[maybe_unused]] const bool sockets_are_forbidden = forbid_sockets();

}  // namespace holdfast::test
