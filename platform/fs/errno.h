// Turns errno into our Error, in one place.

#pragma once

#include <cerrno>
#include <string>

#include "platform/result.h"

namespace holdfast {

// The word for an errno of the file and process calls: ENOENT and ESRCH are not_found, a full disk
// or table is exhausted, and whatever has no word of its own is unavailable.
[[nodiscard]] Errc errc_of(int error);

// "`doing`: No such file or directory", with the errno as the cause. Call it before anything that
// may change errno, or pass the number that was kept.
[[nodiscard]] tl::unexpected<Error> fail_errno(const std::string& doing, int error = errno);

}  // namespace holdfast
