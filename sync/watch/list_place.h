// Where the objects of a list are kept: in memory or, if they do not fit there, in the cache file;
// and the limits of what is kept there.
//
// Pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "platform/result.h"
#include "sync/watch/reflector.h"
#include "sync/watch/scope_room.h"

namespace holdfast::sync::watch {

// The bytes at most that are taken back into memory for those who still need them, before they are
// replaced in the file.
inline constexpr std::size_t taken_back_max = 8UL << 20;
// The part of the cache file, in percent of its largest size, that it may fill while a list is
// written that is kept on disk. The rest is for everything else.
inline constexpr std::int64_t lists_share = 75;
// The bytes of one such list that may be in memory before they are written.
inline constexpr std::size_t unwritten_max = 256UL << 10;

enum class ListPlace : std::uint8_t { memory, disk };

// Whether a list that has failed in memory, of that owner, belongs on disk.
[[nodiscard]] bool belongs_on_disk(std::string_view owner, const Failure& failure,
                                   const CacheLimits& limits);

// Where a list goes that is in the file: `objects` objects with `bytes` bytes. Errors: exhausted
// (it is too large for both).
[[nodiscard]] Result<ListPlace> place_of(std::string_view owner, std::size_t objects,
                                         std::size_t bytes, const ScopeBytes& held,
                                         const CacheLimits& limits);

// Whether such a list, which is on disk, returns to memory: it fits there with a quarter to spare.
[[nodiscard]] bool returns_to_memory(std::string_view owner, std::size_t objects, std::size_t bytes,
                                     const ScopeBytes& held, const CacheLimits& limits);

// Whether more of a list may be written, while the file uses `used` bytes of at most `most`, or of
// any number if that is 0. Errors: exhausted.
[[nodiscard]] Status check_share(std::int64_t used, std::int64_t most);

// Whether a list that is kept on disk may have that many bytes in all. Errors: exhausted.
[[nodiscard]] Status check_list_bytes(std::size_t bytes, const CacheLimits& limits);

// Whether such a list of so many objects, which hold `memory` bytes in memory, must be written
// before it changes again.
[[nodiscard]] bool must_be_written(std::size_t objects, std::size_t memory);

// Whether `bytes` more may be taken back while `held` are.
[[nodiscard]] bool may_take_back(std::size_t held, std::size_t bytes);

}  // namespace holdfast::sync::watch
