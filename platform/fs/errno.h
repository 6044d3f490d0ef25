// Converts errno values into Error, in one place.

#pragma once

#include <cerrno>
#include <string>

#include "platform/result.h"

namespace holdfast {

// The error code for an errno of a file or process call: ENOENT and ESRCH are not_found, a full
// disk or table is exhausted, and an errno without a counterpart is unavailable.
[[nodiscard]] Errc errc_of(int error);

// An error with the text "`doing`: No such file or directory" and the errno as its cause. Call it
// before anything that may change errno, or pass the saved number.
[[nodiscard]] tl::unexpected<Error> fail_errno(const std::string& doing, int error = errno);

}  // namespace holdfast
