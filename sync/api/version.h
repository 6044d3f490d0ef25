// resourceVersions that the edge makes up while the cloud is away.
//
// They are numbers beyond any that a real server reaches, so that they grow past the versions a
// client has seen, and so that one that comes back is recognised at the border: a local version
// never travels upstream.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::sync {

using Version = std::uint64_t;

// etcd counts its revisions from 1; 2^62 is out of reach at any rate of writes, and fits the signed
// 64 bits that some clients parse into.
inline constexpr Version first_local_version = Version{1} << 62U;

[[nodiscard]] constexpr bool is_local(Version version) { return version >= first_local_version; }

// Nothing for what is not a number.
[[nodiscard]] std::optional<Version> parse_version(std::string_view text);

// Whether a client's resourceVersion is one that we made up.
[[nodiscard]] bool is_local_version(std::string_view text);

}  // namespace holdfast::sync
