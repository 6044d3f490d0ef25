// Tables of custom resources.

#include <boost/json.hpp>

#include "agent/lab/rules/custom_resource.h"
#include "sync/printing/age.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

json::object column(std::string_view name, std::string_view type, std::string_view format,
                    std::string_view description, std::int64_t priority) {
  return {{"name", name},
          {"type", type},
          {"format", format},
          {"description", description},
          {"priority", priority}};
}

json::object default_column() {
  json::object age;
  age["name"] = "Age";
  age["type"] = "date";
  age["jsonPath"] = ".metadata.creationTimestamp";
  return age;
}

// The columns of the version after the name; without any, the age.
json::array own_columns(const CustomResource& resource, std::string_view version) {
  json::array found =
      sync::wire::dig_list(resource.version_of(version), {"additionalPrinterColumns"});
  if (found.empty()) found.push_back(default_column());
  return found;
}

json::array definitions_of(const json::array& columns) {
  json::array made;
  made.push_back(column("Name", "string", "name", "Name of the object.", 0));
  for (const json::value& each : columns) {
    const json::object& from = sync::wire::as_object(each);
    made.push_back(
        column(sync::wire::dig_text(from, {"name"}), sync::wire::dig_text(from, {"type"}),
               sync::wire::dig_text(from, {"format"}), sync::wire::dig_text(from, {"description"}),
               sync::wire::dig_int(from, {"priority"})));
  }
  return made;
}

json::value cell(const json::object& from, const json::object& object, WallTime now) {
  const json::value* value = value_at(object, sync::wire::dig_text(from, {"jsonPath"}));
  if (value == nullptr || value->is_null()) return nullptr;
  const std::string_view type = sync::wire::dig_text(from, {"type"});
  if (type == "date") return json::value(sync::printing::age_of(value, now));
  if (type == "string" && !value->is_string()) return json::value(sync::wire::serialize(*value));
  return *value;
}

}  // namespace

json::object custom_table(const CustomResource& resource, std::string_view version,
                          json::object metadata, const json::array& objects, WallTime now,
                          sync::printing::IncludeObject include, bool with_columns) {
  const json::array columns = own_columns(resource, version);
  json::array rows;
  for (const json::value& item : objects) {
    const json::object& object = sync::wire::as_object(item);
    json::array cells;
    cells.emplace_back(sync::wire::name_of(object));
    for (const json::value& each : columns) {
      cells.push_back(cell(sync::wire::as_object(each), object, now));
    }
    json::object row;
    row["cells"] = std::move(cells);
    row["object"] = sync::printing::row_object(object, include);
    rows.push_back(std::move(row));
  }
  json::object table = {{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}};
  table["metadata"] = std::move(metadata);
  table["columnDefinitions"] = with_columns ? json::value(definitions_of(columns)) : nullptr;
  table["rows"] = std::move(rows);
  return table;
}

}  // namespace holdfast::agent::lab
