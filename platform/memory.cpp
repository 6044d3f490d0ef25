#include "platform/memory.h"

#include <malloc.h>

namespace holdfast {

void release_free_memory() { (void)malloc_trim(0); }

}  // namespace holdfast
