// How many descriptors this process may have open (RLIMIT_NOFILE, see getrlimit(2)).

#pragma once

#include <cstddef>

namespace holdfast::proc {

// Raises the soft limit to the hard one and returns the limit that holds then. If the kernel
// refuses, the soft limit stays as it was. Child processes inherit it.
std::size_t raise_descriptor_limit();

}  // namespace holdfast::proc
