#include "agent/lab/apiserver/view.h"

#include "agent/lab/rules/convert.h"
#include "platform/check.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

// `{"kind":"Pod","apiVersion":"v1",`, which the items of a list do not have.
std::string type_meta(const View& view) {
  const std::string api_version = view.resource->api_version(view.version->name);
  return "{\"kind\":\"" + std::string(view.resource->kind) + "\",\"apiVersion\":\"" + api_version +
         "\",";
}

std::string served_bytes(const View& view, const Stored& stored) {
  return view.as_stored() ? stored.bytes : sync::wire::serialize(view.convert(stored.object));
}

json::object list_metadata(const ListMeta& meta) {
  json::object metadata = {{"resourceVersion", std::to_string(meta.revision)}};
  if (!meta.continue_token.empty()) metadata["continue"] = meta.continue_token;
  if (meta.remaining > 0) metadata["remainingItemCount"] = meta.remaining;
  return metadata;
}

json::object object_metadata(const json::object& object) {
  return {{"resourceVersion", sync::wire::version_of(object)}};
}

json::object table(const View& view, json::object metadata, const json::array& objects,
                   WallTime now, bool with_columns) {
  if (view.custom) {
    return custom_table(*view.custom, view.version->name, std::move(metadata), objects, now,
                        view.include, with_columns);
  }
  return sync::printing::make_table(*view.resource, std::move(metadata), objects, now, view.include,
                                    with_columns);
}

// Cells are computed from the stored version; only complete objects in rows are converted.
json::value row_source(const View& view, const json::object& object) {
  const bool converted = view.custom || view.include == sync::printing::IncludeObject::object;
  return converted ? view.convert(object) : object;
}

std::string form_of(const View& view, const json::object& object, WallTime now, bool with_columns) {
  switch (view.form) {
    case sync::wire::Form::object:
      return sync::wire::serialize(view.convert(object));
    case sync::wire::Form::table: {
      const json::array rows = {row_source(view, object)};
      return sync::wire::serialize(table(view, object_metadata(object), rows, now, with_columns));
    }
    case sync::wire::Form::metadata:
      return sync::wire::serialize(sync::printing::metadata_only(object));
  }
  UNREACHABLE();
}

std::string render_objects(const View& view, const std::vector<StoredPtr>& items,
                           const ListMeta& meta) {
  const std::string head = type_meta(view);
  const std::string api_version = view.resource->api_version(view.version->name);
  std::string body = "{\"kind\":\"" + view.resource->list_kind() + "\",\"apiVersion\":\"" +
                     api_version + "\",\"metadata\":" + sync::wire::serialize(list_metadata(meta)) +
                     ",\"items\":[";
  for (const StoredPtr& item : items) {
    const std::string bytes = served_bytes(view, *item);
    CHECK(bytes.starts_with(head));
    if (body.back() != '[') body += ',';
    body.append("{").append(bytes, head.size());
  }
  return body + "]}\n";
}

}  // namespace

bool View::as_stored() const { return is_stored_version(*resource, *version); }

json::object View::convert(const json::object& object) const {
  return from_stored(*resource, *version, object);
}

std::string render(const View& view, const json::object& object, WallTime now) {
  return form_of(view, object, now, true) + "\n";
}

std::string render(const View& view, const Stored& stored, WallTime now) {
  if (view.form == sync::wire::Form::object && view.as_stored()) return stored.bytes + "\n";
  return render(view, stored.object, now);
}

std::string render_list(const View& view, const std::vector<StoredPtr>& items, const ListMeta& meta,
                        WallTime now) {
  if (view.form == sync::wire::Form::object) return render_objects(view, items, meta);
  json::array objects;
  for (const StoredPtr& item : items) {
    objects.push_back(view.form == sync::wire::Form::metadata
                          ? json::value(sync::printing::metadata_only(item->object))
                          : row_source(view, item->object));
  }
  if (view.form == sync::wire::Form::table) {
    return sync::wire::serialize(table(view, list_metadata(meta), objects, now, true)) + "\n";
  }
  json::object list = {{"kind", "PartialObjectMetadataList"}, {"apiVersion", "meta.k8s.io/v1"}};
  list["metadata"] = list_metadata(meta);
  list["items"] = std::move(objects);
  return sync::wire::serialize(list) + "\n";
}

std::string render_event(const View& view, std::string_view type, const Stored& stored,
                         WallTime now, bool with_columns) {
  const bool plain = view.form == sync::wire::Form::object;
  const std::string object =
      plain ? served_bytes(view, stored) : form_of(view, stored.object, now, with_columns);
  return "{\"type\":\"" + std::string(type) + "\",\"object\":" + object + "}\n";
}

std::string render_bookmark(const View& view, std::int64_t revision, bool initial_end) {
  json::object metadata = {{"resourceVersion", std::to_string(revision)}};
  if (initial_end) {
    metadata["annotations"] = json::object{{"k8s.io/initial-events-end", "true"}};
  }
  const json::object empty = {{"metadata", std::move(metadata)}};
  const std::string api_version = view.resource->api_version(view.version->name);
  json::object object = zero_of(*view.resource, *view.version);
  object["metadata"] = empty.at("metadata");
  if (!view.custom) {
    auto shaped = sync::objects::shape(type_of(*view.resource, *view.version), empty,
                                       view.resource->kind, api_version);
    CHECK(shaped.has_value());
    object = std::move(shaped->object);
  }
  if (view.form == sync::wire::Form::metadata) object = sync::printing::metadata_only(object);
  if (view.form == sync::wire::Form::table) {
    // A bookmark of a table is a table without rows.
    json::object marked = object_metadata(object);
    object = table(view, std::move(marked), {}, {}, false);
  }
  return "{\"type\":\"BOOKMARK\",\"object\":" + sync::wire::serialize(object) + "}\n";
}

}  // namespace holdfast::agent::lab
