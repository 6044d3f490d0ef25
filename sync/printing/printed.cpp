#include "sync/printing/printed.h"

#include <algorithm>

#include "sync/printing/cells.h"
#include "sync/wire/json.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/read.h"

namespace holdfast::sync::printing {
namespace {

constexpr std::string_view unknown_cell = "<unknown>";

const Resource* known(const objects::RequestInfo& info) {
  const Resource* resource = find_resource(info.group, info.version, info.resource);
  if (resource == nullptr || !has_own_columns(*resource)) return nullptr;
  // Cells are created from stored objects, which for events are core events.
  if (info.group == "events.k8s.io") return nullptr;
  if (info.resource == "jobs") return nullptr;  // Their durations change like ages.
  return resource->versions.front().name == info.version ? resource : nullptr;
}

// The columns of a resource whose tables were never seen.
const json::array& name_and_age() {
  static const json::array columns = {
      json::object{{"name", "Name"},
                   {"type", "string"},
                   {"format", "name"},
                   {"description", "The object's name."},
                   {"priority", 0}},
      json::object{{"name", "Age"},
                   {"type", "string"},
                   {"format", ""},
                   {"description", "The time since the object was created."},
                   {"priority", 0}}};
  return columns;
}

bool is_age(const json::value& column) {
  return wire::dig_text(wire::as_object(column), {"name"}) == "Age";
}

json::object list_metadata(const json::object& body) {
  json::object metadata;
  const json::object& given = wire::dig_object(body, {"metadata"});
  for (const char* field : {"resourceVersion", "continue", "remainingItemCount"}) {
    if (const json::value* value = given.if_contains(field)) metadata[field] = *value;
  }
  return metadata;
}

bool is_list(const json::object& body) { return body.contains("items"); }

Result<json::object> read_object(std::string_view text) {
  TRY(json::value value, wire::parse_json(text));
  if (!value.is_object()) return fail(Errc::invalid, "not an object");
  return std::move(value.get_object());
}

// The cells without ages, which change over time.
json::array lasting_cells(const json::array& columns, const json::array& cells) {
  json::array lasting;
  for (std::size_t i = 0; i < std::min(columns.size(), cells.size()); ++i) {
    lasting.push_back(is_age(columns[i]) ? json::value(nullptr) : cells[i]);
  }
  return lasting;
}

}  // namespace

bool has_columns(const objects::RequestInfo& info) { return known(info) != nullptr; }

Result<std::string> remember_table(std::string_view seen, std::string_view table,
                                   const SeenTables& limits) {
  TRY(const json::object fresh, read_object(table));
  if (wire::dig_text(fresh, {"kind"}) != "Table") return fail(Errc::invalid, "not a Table");
  const json::array& columns = wire::dig_list(fresh, {"columnDefinitions"});
  if (columns.empty()) return fail(Errc::invalid, "a Table without columns");
  json::object rows;
  auto old = seen.empty() ? Result<json::object>(json::object()) : read_object(seen);
  if (old && wire::dig_list(*old, {"columns"}) == columns) rows = wire::dig_object(*old, {"rows"});
  for (const json::value& row : wire::dig_list(fresh, {"rows"})) {
    const std::string_view uid =
        wire::dig_text(wire::as_object(row), {"object", "metadata", "uid"});
    if (uid.empty() || (rows.size() >= limits.rows_max && !rows.contains(uid))) continue;
    rows[uid] = lasting_cells(columns, wire::dig_list(wire::as_object(row), {"cells"}));
  }
  std::string text = wire::serialize(json::object{{"columns", columns}, {"rows", std::move(rows)}});
  if (text.size() <= limits.bytes_max) return text;
  return wire::serialize(json::object{{"columns", columns}, {"rows", json::object()}});
}

Printer::Printer(const objects::RequestInfo& info, wire::Form form, IncludeObject include,
                 std::string_view seen)
    : resource_(known(info)), form_(form), include_(include) {
  if (resource_ != nullptr || seen.empty()) return;
  if (auto read = read_object(seen)) seen_ = *std::move(read);
}

json::array Printer::cells(const json::object& object, WallTime now) const {
  if (resource_ != nullptr) return cells_of(*resource_, object, now);
  const json::array& seen =
      wire::dig_list(wire::dig_object(seen_, {"rows"}), {wire::uid_of(object)});
  json::array cells;
  for (const json::value& column : columns()) {
    const std::size_t at = cells.size();
    if (is_age(column)) {
      cells.emplace_back(object_age(object, now));
    } else if (wire::dig_text(wire::as_object(column), {"format"}) == "name") {
      cells.emplace_back(wire::name_of(object));
    } else {
      cells.push_back(at < seen.size() ? seen[at] : json::value(unknown_cell));
    }
  }
  return cells;
}

const json::array& Printer::columns() const {
  if (resource_ != nullptr) return columns_of(*resource_);
  const json::array& seen = wire::dig_list(seen_, {"columns"});
  return seen.empty() ? name_and_age() : seen;
}

json::object Printer::table(const json::object& body, WallTime now, bool with_columns,
                            IncludeObject include) const {
  json::array rows;
  const auto add = [this, &rows, now, include](const json::object& object) {
    rows.push_back(
        json::object{{"cells", cells(object, now)}, {"object", row_object(object, include)}});
  };
  if (is_list(body)) {
    const std::string_view list_kind = wire::dig_text(body, {"kind"});
    for (const json::value& item : wire::dig_list(body, {"items"})) {
      json::object object{{"kind", wire::item_kind(list_kind)},
                          {"apiVersion", wire::dig_text(body, {"apiVersion"})}};
      for (const auto& [name, value] : wire::as_object(item)) object[name] = value;
      add(object);
    }
  } else {
    add(body);
  }
  json::object made{{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}};
  made["metadata"] = list_metadata(body);
  made["columnDefinitions"] = with_columns ? json::value(columns()) : json::value(nullptr);
  made["rows"] = std::move(rows);
  return made;
}

json::object Printer::metadata(const json::object& body) {
  if (!is_list(body)) return metadata_only(body);
  json::array items;
  for (const json::value& item : wire::dig_list(body, {"items"})) {
    items.push_back(metadata_only(wire::as_object(item)));
  }
  return {{"kind", "PartialObjectMetadataList"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", list_metadata(body)},
          {"items", std::move(items)}};
}

json::object Printer::print(const json::object& body, WallTime now, bool with_columns,
                            IncludeObject include) const {
  if (wire::dig_text(body, {"kind"}) == "Status" || form_ == wire::Form::object) return body;
  return form_ == wire::Form::table ? table(body, now, with_columns, include) : metadata(body);
}

Result<std::string> Printer::print(std::string_view body, WallTime now) const {
  TRY(const json::object read, read_object(body));
  return wire::serialize(print(read, now, true, include_)) + "\n";
}

Result<std::string> Printer::print_event(std::string_view event, WallTime now) {
  TRY(json::object read, read_object(event));
  const json::object object = wire::dig_object(read, {"object"});
  // The object of a bookmark has only metadata, whatever was requested.
  const bool bookmark = wire::dig_text(read, {"type"}) == "BOOKMARK";
  const IncludeObject include = bookmark ? IncludeObject::metadata : include_;
  read["object"] = print(object, now, !columns_sent_, include);
  columns_sent_ = true;
  return wire::serialize(read) + "\n";
}

}  // namespace holdfast::sync::printing
