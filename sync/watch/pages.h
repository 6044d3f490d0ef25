// Cuts a list into pages, as limit and continue ask for it: all pages are of one moment.
//
// A continue token of ours names the moment and where the next page begins. It is recognised at the
// border: an API server's own token is its own affair. Pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/watch/cached_form.h"
#include "sync/watch/watch_cache.h"

namespace holdfast::sync {

struct PageToken {
  std::uint64_t snapshot = 0;  // a random number: of nobody else's moment, nor of an earlier run's
  ObjectKey after = {};        // the last object of the page before

  bool operator==(const PageToken&) const = default;
};

[[nodiscard]] std::string encode_page_token(const PageToken& token);
// Nothing for what encode_page_token() did not make.
[[nodiscard]] std::optional<PageToken> parse_page_token(std::string_view text);

// The wording of an API server whose history ends after the token's moment.
inline constexpr std::string_view continue_expired =
    "The provided continue parameter is too old to display a consistent list result. You must "
    "start a new list without the continue parameter.";

struct ListPage {
  ListPart part;
  std::vector<Bytes> items;
};

// At most `limit` (> 0) objects after `after` (all, when it is empty). `counts`: say how many are
// left, as an API server does for lists without selectors.
[[nodiscard]] ListPage cut_page(const WatchCache::Objects& objects, Version version,
                                const PageToken& from, std::size_t limit, bool counts);

}  // namespace holdfast::sync
