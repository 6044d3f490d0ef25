#include "agent/lab/apiserver/selection.h"

#include <boost/json.hpp>

#include "agent/lab/rules/convert.h"
#include "platform/check.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

sync::StringMap labels_of(const json::object& object) {
  sync::StringMap labels;
  for (const auto& label : sync::wire::dig_object(object, {"metadata", "labels"})) {
    labels.set(label.key(), sync::wire::as_text(label.value()));
  }
  return labels;
}

}  // namespace

Answer<Selection> Selection::parse(const sync::printing::Resource& resource,
                                   std::string_view labels, std::string_view fields) {
  Selection selection;
  auto by_label = sync::objects::LabelQuery::parse(labels);
  if (!by_label) return refuse(sync::wire::status::bad_request(by_label.error().what));
  auto by_field = sync::objects::FieldQuery::parse(fields);
  if (!by_field) return refuse(sync::wire::status::bad_request(by_field.error().what));
  const sync::printing::Resource& stored = stored_resource(resource);
  if (const auto known = sync::objects::check_fields(stored.group, stored.plural, *by_field);
      !known) {
    return refuse(sync::wire::status::bad_request(known.error().what));
  }
  selection.resource_ = &stored;
  selection.labels_ = *std::move(by_label);
  selection.fields_ = *std::move(by_field);
  return selection;
}

bool Selection::matches(const StoredPtr& stored) const {
  if (!stored) return false;
  if (!fields_.matches_everything()) {
    const auto values =
        sync::objects::field_values(resource_->group, resource_->plural, fields_, stored->bytes);
    CHECK(values.has_value());  // The fields were checked, and the stored bytes are valid.
    if (!fields_.matches(*values)) return false;
  }
  return labels_.matches_everything() || labels_.matches(labels_of(stored->object));
}

std::string_view event_for(const Selection& selection, const Change& change, StoredPtr& seen) {
  const bool is = selection.matches(change.now);
  const bool was = selection.matches(change.before);
  seen = change.seen;
  if (is) return was ? "MODIFIED" : "ADDED";
  if (!was) return "";
  // The object no longer matches: as upstream, the event has its last matching state.
  if (change.now) seen = stamped(change.before, change.revision);
  return "DELETED";
}

}  // namespace holdfast::agent::lab
