// What was freed, given back to the system.

#pragma once

namespace holdfast {

// The allocator keeps freed memory for later. After something large that will not come again soon,
// like a list of all objects, that is memory wasted. Takes about a millisecond for each 100 MB.
void release_free_memory();

}  // namespace holdfast
