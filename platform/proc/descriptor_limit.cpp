#include "platform/proc/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "platform/check.h"
#include "platform/integers.h"

namespace holdfast::proc {

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  CHECK(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  rlimit raised = limit;
  raised.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  // rlim_t has 64 bits everywhere, and "unlimited" is its largest value.
  return to_size(std::min<std::uint64_t>(limit.rlim_cur, std::numeric_limits<std::size_t>::max()));
}

}  // namespace holdfast::proc
