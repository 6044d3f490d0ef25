#include "sync/watch/selection.h"

#include <algorithm>

#include "sync/objects/selector.h"
#include "sync/wire/protobuf/header.h"

namespace holdfast::sync::watch {
namespace {

bool is_all_or(const std::string& wider, const std::string& narrower) {
  return wider.empty() || wider == narrower;
}

// Whether the narrower selector has every term of the wider one.
template <class Query>
bool has_no_other_term(const std::string& wider, const std::string& narrower) {
  if (is_all_or(wider, narrower)) return true;
  const auto few = Query::parse(wider);
  const auto many = Query::parse(narrower);
  if (!few || !many) return false;
  return std::ranges::all_of(few->requirements(), [&many](const auto& term) {
    return std::ranges::find(many->requirements(), term) != many->requirements().end();
  });
}

// Whether the object's fields match `query`.
Result<bool> has_fields(const wire::ScopeKind& kind, const Selection& selection,
                        const objects::FieldQuery& query, std::string_view cached) {
  if (query.matches_everything()) return true;
  TRY(const std::string json, cached_json(kind, cached));
  TRY(const StringMap values,
      objects::field_values(selection.group, selection.resource, query, json));
  return query.matches(values);
}

}  // namespace

bool covers(const Selection& wider, const Selection& narrower) {
  return wider.group == narrower.group && wider.resource == narrower.resource &&
         is_all_or(wider.namespace_name, narrower.namespace_name) &&
         has_no_other_term<objects::LabelQuery>(wider.label_selector, narrower.label_selector) &&
         has_no_other_term<objects::FieldQuery>(wider.field_selector, narrower.field_selector);
}

Result<WatchCache::Objects> select(const WatchCache& from, const Selection& selection) {
  TRY(const objects::LabelQuery labels, objects::LabelQuery::parse(selection.label_selector));
  TRY(const objects::FieldQuery fields, objects::FieldQuery::parse(selection.field_selector));
  WatchCache::Objects selected;
  for (const auto& [key, object] : from.objects()) {
    if (!is_all_or(selection.namespace_name, key.namespace_name)) continue;
    if (labels.matches_everything() && fields.matches_everything()) {
      selected.emplace(key, object);
      continue;
    }
    TRY(const Bytes cached, object.bytes.load());
    TRY(const wire::ObjectHeader header, wire::read_any_header(*cached));
    if (!labels.matches(header.labels)) continue;
    TRY(const bool wanted, has_fields(from.kind(), selection, fields, *cached));
    if (wanted) selected.emplace(key, object);
  }
  return selected;
}

Result<WatchCache::Objects> transcoded(WatchCache::Objects objects, const wire::ScopeKind& kind) {
  for (auto& [key, object] : objects) {
    TRY(const Bytes cached, object.bytes.load());
    if (encoding_of(*cached) == kind.encoding) continue;
    TRY(std::string bytes, in_encoding(kind, *cached));
    object.bytes = std::make_shared<const std::string>(std::move(bytes));
  }
  return objects;
}

}  // namespace holdfast::sync::watch
