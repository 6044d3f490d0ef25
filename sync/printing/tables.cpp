#include "sync/printing/tables.h"

#include <map>
#include <string>

#include "embedded/table_columns.h"
#include "platform/check.h"
#include "platform/text.h"
#include "sync/printing/cells.h"
#include "sync/wire/read.h"

namespace holdfast::sync::printing {
namespace {

namespace json = boost::json;

constexpr std::string_view name_doc =
    "Name must be unique within a namespace. Is required when creating resources, although some "
    "resources may allow a client to request the generation of an appropriate name automatically. "
    "Name is primarily intended for creation idempotence and configuration definition. Cannot be "
    "updated. More info: http://kubernetes.io/docs/user-guide/identifiers#names";

constexpr std::string_view created_doc =
    "CreationTimestamp is a timestamp representing the server time when this object was created. "
    "It is not guaranteed to be set in happens-before order across separate operations. Clients "
    "may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the "
    "system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

std::string_view description(std::string_view text) {
  if (text == "=name") return name_doc;
  if (text == "=created") return created_doc;
  return text;
}

// Parses a line of columns.txt: "Name | string | name | 0 | description".
json::object read_column(std::string_view line) {
  std::array<std::string_view, 5> parts;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const std::size_t bar = at + 1 < parts.size() ? line.find(" | ") : std::string_view::npos;
    parts[at] = trim(line.substr(0, bar));
    CHECK(at + 1 == parts.size() || bar != std::string_view::npos);
    if (bar != std::string_view::npos) line.remove_prefix(bar + 3);
  }
  json::object column;
  column["name"] = parts[0];
  column["type"] = parts[1];
  column["format"] = parts[2] == "-" ? "" : parts[2];
  column["description"] = description(parts[4]);
  column["priority"] = parts[3] == "1" ? 1 : 0;
  return column;
}

std::map<std::string_view, json::array> read_columns() {
  std::map<std::string_view, json::array> all;
  json::array* current = nullptr;
  for (const std::string_view line : split(embedded::columns_txt, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    if (!line.starts_with(' ')) {
      current = &all[line];
    } else {
      CHECK(current != nullptr);
      current->push_back(read_column(line));
    }
  }
  return all;
}

const std::map<std::string_view, json::array>& all_columns() {
  static const std::map<std::string_view, json::array> all = read_columns();
  return all;
}

void name_and_age(json::array& cells, const json::object& object, WallTime now) {
  cells.emplace_back(wire::name_of(object));
  cells.emplace_back(object_age(object, now));
}

FillCells find_cells(std::string_view plural) {
  if (plural == "pods") return pod_cells;
  if (plural == "nodes") return node_cells;
  if (plural == "events") return event_cells;
  for (const auto find : {workload_cells, batch_cells, config_cells, storage_cells}) {
    if (const FillCells fill = find(plural)) return fill;
  }
  return name_and_age;
}

}  // namespace

bool has_own_columns(const Resource& resource) { return all_columns().contains(resource.plural); }

const json::array& columns_of(const Resource& resource) {
  const auto found = all_columns().find(resource.plural);
  return found != all_columns().end() ? found->second : all_columns().at("default");
}

json::array cells_of(const Resource& resource, const json::object& object, WallTime now) {
  json::array cells;
  find_cells(resource.plural)(cells, object, now);
  CHECK(cells.size() == columns_of(resource).size());
  return cells;
}

json::value row_object(const json::object& object, IncludeObject include) {
  switch (include) {
    case IncludeObject::none:
      return nullptr;
    case IncludeObject::metadata:
      return metadata_only(object);
    case IncludeObject::object:
      return object;
  }
  UNREACHABLE();
}

json::object metadata_only(const json::object& object) {
  json::object partial = {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}};
  partial["metadata"] = wire::dig_object(object, {"metadata"});
  return partial;
}

json::object make_table(const Resource& resource, json::object metadata, const json::array& objects,
                        WallTime now, IncludeObject include, bool with_columns) {
  json::array rows;
  for (const json::value& item : objects) {
    const json::object& object = wire::as_object(item);
    json::object row;
    row["cells"] = cells_of(resource, object, now);
    row["object"] = row_object(object, include);
    rows.push_back(std::move(row));
  }
  json::object table = {{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}};
  table["metadata"] = std::move(metadata);
  table["columnDefinitions"] = with_columns ? json::value(columns_of(resource)) : nullptr;
  table["rows"] = std::move(rows);
  return table;
}

}  // namespace holdfast::sync::printing
