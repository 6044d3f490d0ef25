#include "sync/objects/large_lists.h"

#include <algorithm>
#include <limits>

#include "sync/objects/list_options.h"

namespace holdfast::sync::objects {
namespace {

// How many objects the answer may have; max() without a limit.
std::int64_t objects_max(const Query& query) {
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  const auto options = parse_list_options(query);
  if (!options || options->limit <= 0 || ignores_limit(*options)) return all;
  return options->limit;
}

}  // namespace

CallersList callers_list(std::string_view caller, std::string_view path, const Query& query) {
  return {.caller = std::string(caller),
          .path = std::string(path),
          .selectors = encode_query({.label_selector = std::string(query.get("labelSelector")),
                                     .field_selector = std::string(query.get("fieldSelector"))})};
}

void LargeLists::note(MonoTime now, const CallersList& list, const Query& asked) {
  std::int64_t too_many = objects_max(asked);
  // One object that is too large alone says nothing of the others.
  if (too_many == 1) return;
  const auto at = std::find_if(known_.begin(), known_.end(),
                               [&list](const Known& each) { return each.list == list; });
  if (at != known_.end()) {
    if (at->until > now) too_many = std::min(too_many, at->too_many);
    known_.erase(at);
  } else if (known_.size() >= limits_.count) {
    known_.pop_front();
  }
  known_.push_back({list, too_many, now + limits_.lifetime});
}

std::optional<Query> LargeLists::to_ask(MonoTime now, const CallersList& list,
                                        const Query& asked) const {
  const auto at = std::find_if(known_.begin(), known_.end(), [&list, now](const Known& each) {
    return each.list == list && each.until > now;
  });
  std::optional<Query> page = asked;
  if (at == known_.end()) return page;
  while (page && objects_max(*page) >= at->too_many) page = smaller_page(*page);
  return page;
}

}  // namespace holdfast::sync::objects
