// Local resourceVersions, which the edge agent assigns while the cloud is unreachable.
//
// They are larger than any version of a real server. So they are newer than all versions that a
// client has seen, and can be recognised: a local version must never be sent upstream.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::sync::objects {

using Version = std::uint64_t;

// etcd counts revisions from 1 and never reaches 2^62; the number fits into the signed 64 bits that
// some clients use.
inline constexpr Version first_local_version = Version{1} << 62U;

[[nodiscard]] constexpr bool is_local(Version version) { return version >= first_local_version; }

// Returns nothing if the text is not a number.
[[nodiscard]] std::optional<Version> parse_version(std::string_view text);

// The resourceVersion of a request; 0 if it is empty. Errors: invalid, in kube-apiserver's wording.
[[nodiscard]] Result<Version> parse_asked_version(std::string_view text);

// Whether a client's resourceVersion is a local one.
[[nodiscard]] bool is_local_version(std::string_view text);

}  // namespace holdfast::sync::objects
