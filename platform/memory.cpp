#include "platform/memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

// Sanitizers have an allocator of their own, of which mallinfo2() knows nothing. Their runtime has
// this function; without one it is null.
extern "C" [[gnu::weak]] std::size_t __sanitizer_get_current_allocated_bytes();

namespace holdfast {

void discard_memory(char* bytes, std::size_t size) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes);
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + size) / page * page;
  if (first >= last) return;
  (void)::madvise(bytes + (first - begin), last - first, MADV_DONTNEED);
}

void return_large_blocks() { (void)mallopt(M_MMAP_THRESHOLD, 256 * 1024); }

std::size_t heap_bytes_in_use() {
  if (__sanitizer_get_current_allocated_bytes != nullptr) {
    return __sanitizer_get_current_allocated_bytes();
  }
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

void release_free_memory() { (void)malloc_trim(0); }

}  // namespace holdfast
