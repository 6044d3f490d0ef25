#include "sync/watch/pages.h"

#include <iterator>

#include "platform/text.h"

namespace holdfast::sync::watch {
namespace {

// An API server's tokens begin differently: they are base64 of {"v":"meta.k8s.io/...
constexpr std::string_view mark = "holdfast/1 ";

}  // namespace

std::string encode_page_token(const PageToken& token) {
  std::string text(mark);
  text += std::to_string(token.snapshot) + " " + token.after.namespace_name;
  text += " " + token.after.name;
  return base64_encode(text);
}

std::optional<PageToken> parse_page_token(std::string_view text) {
  const auto plain = base64_decode(text);
  if (!plain || !plain->starts_with(mark)) return std::nullopt;
  const std::vector<std::string_view> words =
      split(std::string_view(*plain).substr(mark.size()), ' ');
  if (words.size() != 3 || words[2].empty()) return std::nullopt;
  const auto snapshot = parse_int<std::uint64_t>(words[0]);
  if (!snapshot) return std::nullopt;
  return PageToken{*snapshot, {std::string(words[1]), std::string(words[2])}};
}

ListPage cut_page(const WatchCache::Objects& objects, objects::Version version,
                  const PageToken& from, std::size_t limit, bool counts) {
  ListPage page{.part = {.version = version}, .items = {}};
  auto at = from.after.name.empty() ? objects.begin() : objects.upper_bound(from.after);
  for (; at != objects.end() && page.items.size() < limit; ++at) {
    page.items.push_back(at->second.bytes);
  }
  if (at == objects.end()) return page;
  page.part.continue_token = encode_page_token({from.snapshot, std::prev(at)->first});
  if (counts) page.part.remaining_item_count = std::distance(at, objects.end());
  return page;
}

}  // namespace holdfast::sync::watch
