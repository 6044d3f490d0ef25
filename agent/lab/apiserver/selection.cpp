#include "agent/lab/apiserver/selection.h"

#include <boost/json.hpp>

#include "agent/lab/rules/convert.h"
#include "agent/lab/rules/custom_resource.h"
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

// Custom resources are selected by name, namespace and the selectableFields of a version.
Answer<bool> check_custom_fields(const CustomResource& resource,
                                 const sync::objects::FieldQuery& query) {
  for (const sync::objects::FieldRequirement& wanted : query.requirements()) {
    bool known = wanted.field == "metadata.name" || wanted.field == "metadata.namespace";
    for (const sync::printing::ServedVersion& version : resource.versions) {
      const json::array& fields =
          sync::wire::dig_list(resource.version_of(version.name), {"selectableFields"});
      for (const json::value& each : fields) {
        const auto path = sync::wire::dig_text(sync::wire::as_object(each), {"jsonPath"});
        known = known || path == "." + wanted.field;
      }
    }
    if (known) continue;
    return refuse(sync::wire::status::bad_request("field label not supported: " + wanted.field));
  }
  return true;
}

Result<sync::StringMap> custom_values(const sync::objects::FieldQuery& query,
                                      const json::object& object) {
  sync::StringMap values;
  for (const sync::objects::FieldRequirement& wanted : query.requirements()) {
    const json::value* found = value_at(object, wanted.field);
    if (found == nullptr || found->is_null()) continue;
    values.set(wanted.field,
               found->is_string() ? std::string(found->get_string()) : json::serialize(*found));
  }
  return values;
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
  if (resource.is_custom) {
    const CustomResource& custom = *custom_of(resource);
    if (const auto known = check_custom_fields(custom, *by_field); !known) {
      return refuse(known.error());
    }
  } else if (const auto known = sync::objects::check_fields(stored.group, stored.plural, *by_field);
             !known) {
    return refuse(sync::wire::status::bad_request(known.error().what));
  }
  selection.resource_ = resource.is_custom ? nullptr : &stored;
  selection.labels_ = *std::move(by_label);
  selection.fields_ = *std::move(by_field);
  return selection;
}

bool Selection::matches(const StoredPtr& stored) const {
  if (!stored) return false;
  if (!fields_.matches_everything()) {
    const auto values = resource_ == nullptr
                            ? custom_values(fields_, stored->object)
                            : sync::objects::field_values(resource_->group, resource_->plural,
                                                          fields_, stored->bytes);
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
