#include "sync/filters/answers.h"

#include <deque>
#include <vector>

#include "sync/wire/list_bytes.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/protobuf/list.h"

namespace holdfast::sync::filters {
namespace {

// Limit for one list. It may be larger than any cached list, because the API server sent it.
constexpr std::size_t items_max = 100'000;

// The items of a protobuf List have no envelopes.
std::string_view without_envelope(std::string_view object) {
  const auto envelope = wire::open_envelope(object);
  return envelope ? envelope->raw : object;
}

Result<FilteredBody> filter_list(const FilterChain& chain, const FilterKnowledge& knowledge,
                                 std::string_view body) {
  const bool protobuf = wire::is_protobuf(body);
  TRY(const wire::ListBytes list,
      protobuf ? wire::split_protobuf_list(body, items_max) : wire::split_list(body, items_max));
  const std::string kind(wire::item_kind(list.head.kind));
  std::vector<std::string_view> items;
  std::deque<std::string> made;  // owns bytes that `items` points to
  bool changed = false;
  for (const std::string_view item : list.items) {
    std::string whole;
    if (protobuf) whole = wire::enveloped(list.head.api_version, kind, item);
    TRY(FilteredObject shown,
        filter_object(chain, knowledge, protobuf ? std::string_view(whole) : item));
    if (shown.effect == Effect::unknown) {
      return FilteredBody{.effect = Effect::unknown, .need = shown.need};
    }
    changed = changed || shown.effect != Effect::none;
    if (shown.effect == Effect::none) items.push_back(item);
    if (shown.effect != Effect::changed) continue;
    made.push_back(std::move(shown.bytes));
    items.push_back(protobuf ? without_envelope(made.back()) : std::string_view(made.back()));
  }
  if (!changed) return FilteredBody{};
  std::string bytes = protobuf ? wire::join_protobuf_list(list.head, items)
                               : wire::join_list(list.head, items) + "\n";
  return FilteredBody{.effect = Effect::changed, .bytes = std::move(bytes)};
}

}  // namespace

Result<FilteredBody> filter_body(const FilterChain& chain, const FilterKnowledge& knowledge,
                                 std::string_view body) {
  if (chain.empty()) return FilteredBody{};
  std::string kind;
  if (wire::is_protobuf(body)) {
    TRY(const wire::Envelope envelope, wire::open_envelope(body));
    kind = envelope.kind;
  } else {
    TRY(const wire::ObjectHeader header, wire::read_any_header(body));
    kind = header.kind;
  }
  if (kind == "Status") return FilteredBody{};
  if (kind == "Table" || kind.starts_with("PartialObjectMetadata")) {
    return fail(Errc::invalid, "a " + kind + " can't be filtered");
  }
  if (kind.ends_with("List")) return filter_list(chain, knowledge, body);
  TRY(FilteredObject shown, filter_object(chain, knowledge, body));
  if (shown.effect == Effect::changed && !wire::is_protobuf(body)) shown.bytes += "\n";
  return FilteredBody{shown.effect, std::move(shown.bytes), shown.need};
}

}  // namespace holdfast::sync::filters
