// What was freed, given back to the system.

#pragma once

#include <cstddef>

namespace holdfast {

// The allocator keeps freed memory for later. After something large that will not come again soon,
// like a list of all objects, that is memory wasted. Takes about a millisecond for each 100 MB.
void release_free_memory();

// Bytes of the heap that are allocated and not freed, with the allocator's overhead. Takes some
// microseconds.
[[nodiscard]] std::size_t heap_bytes_in_use();

// From now on every block of 256 KiB and more is given back as soon as it is freed. Otherwise the
// allocator learns from the first large block to keep those that follow.
void return_large_blocks();

// Gives the pages that lie wholly within these bytes back to the system; the bytes are lost, but
// remain writable. The memory must come from the heap.
void discard_memory(char* bytes, std::size_t size);

}  // namespace holdfast
