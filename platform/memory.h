// Returns freed memory to the operating system (glibc's allocator). Any thread.

#pragma once

#include <cstddef>

namespace holdfast {

// Returns all free memory of the heap to the system. The allocator would keep it for reuse, which
// wastes memory after a large temporary allocation such as a list of all objects. Takes about 1 ms
// per 100 MB.
void release_free_memory();

// Allocated bytes of the heap, including the allocator's overhead. Takes some microseconds.
[[nodiscard]] std::size_t heap_bytes_in_use();

// From now on every block of 256 KiB or more is returned to the system as soon as it is freed. By
// default glibc raises this threshold after the first large block is freed, and then keeps later
// ones. Call it once, at the program's start.
void return_large_blocks();

// Returns the pages that lie entirely within these bytes to the system. The bytes stay readable and
// writable, but their content is lost. The memory must come from the heap.
void discard_memory(char* bytes, std::size_t size);

}  // namespace holdfast
