#include "platform/proc/descriptor_limit.h"

#include <sys/resource.h>

#include "platform/check.h"

namespace holdfast::proc {

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  CHECK(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  rlimit raised = limit;
  raised.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return limit.rlim_cur;
}

}  // namespace holdfast::proc
