// Cuts a list into pages for the query parameters limit and continue. All pages show the same
// snapshot.
//
// A continue token of this agent names the snapshot and the last object of the previous page. An
// API server's own tokens look different, so parse_page_token() does not accept them. Pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/watch/list_body.h"
#include "sync/watch/watch_cache.h"

namespace holdfast::sync::watch {

struct PageToken {
  // Random number of the snapshot, so that tokens of another run never match. 0: that of the moment
  // at which the token is used.
  std::uint64_t snapshot = 0;
  ObjectKey after = {};  // the last object of the previous page; empty: none

  bool operator==(const PageToken&) const = default;
};

[[nodiscard]] std::string encode_page_token(const PageToken& token);
// std::nullopt for any text that encode_page_token() did not make.
[[nodiscard]] std::optional<PageToken> parse_page_token(std::string_view text);

struct ListPage {
  ListPart part;
  std::vector<Body> items;
};

// At most `limit` (> 0) objects after `from.after` (from the start if that is empty). `counts`: set
// remaining_item_count, as an API server does for lists without selectors.
[[nodiscard]] ListPage cut_page(const WatchCache::Objects& objects, objects::Version version,
                                const PageToken& from, std::size_t limit, bool counts);

}  // namespace holdfast::sync::watch
