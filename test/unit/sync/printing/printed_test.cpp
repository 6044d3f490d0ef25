// Tables made of cached objects, as an API server prints them: with known columns, and with columns
// that were learnt from its answers.

#include "sync/printing/printed.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "sync/wire/json.h"

namespace holdfast::sync::printing {
namespace {

WallTime printed_at() { return parse_rfc3339("2026-11-21T01:23:14Z").value(); }

objects::RequestInfo info_of(const std::string& path) {
  return objects::parse_request("GET", path, "").value();
}

constexpr const char* maps = R"({"kind":"ConfigMapList","apiVersion":"v1",)"
                             R"("metadata":{"resourceVersion":"7","continue":"c"},"items":[)"
                             R"({"metadata":{"name":"a","uid":"u1",)"
                             R"("creationTimestamp":"2026-11-21T01:22:14Z"},"data":{"k":"v"}}]})";

constexpr const char* widgets =
    R"({"kind":"WidgetList","apiVersion":"x.io/v1","metadata":{"resourceVersion":"9"},"items":[)"
    R"({"kind":"Widget","apiVersion":"x.io/v1","metadata":{"name":"w1","uid":"u1",)"
    R"("creationTimestamp":"2026-11-21T01:22:14Z"}},)"
    R"({"kind":"Widget","apiVersion":"x.io/v1","metadata":{"name":"w2","uid":"u2",)"
    R"("creationTimestamp":"2026-11-20T01:22:14Z"}}]})";

std::string table_of_widgets(const std::string& uid, const std::string& size,
                             const std::string& age) {
  return R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"8"},)"
         R"("columnDefinitions":[{"name":"Name","type":"string","format":"name","priority":0},)"
         R"({"name":"Size","type":"integer","format":"","priority":0},)"
         R"({"name":"Age","type":"date","format":"","priority":0}],"rows":[{"cells":["w",)" +
         size + ",\"" + age + R"("],"object":{"metadata":{"uid":")" + uid + R"("}}}]})";
}

// The cells of all rows, as text.
std::string cells_in(const std::string& table) {
  std::string text;
  const json::value read = wire::parse_json(table).value();
  for (const json::value& row : read.at("rows").as_array()) {
    text += wire::serialize(row.at("cells")) + "\n";
  }
  return text;
}

TEST(Printed, KnownKindsHaveTheirColumns) {
  const objects::RequestInfo info = info_of("/api/v1/namespaces/n/configmaps");
  EXPECT_TRUE(has_columns(info));
  const Printer printer(info, wire::Form::table, IncludeObject::metadata, "");
  const std::string table = printer.print(maps, printed_at()).value();
  EXPECT_EQ(cells_in(table), "[\"a\",1,\"60s\"]\n");
  const json::value read = wire::parse_json(table).value();
  EXPECT_EQ(wire::serialize(read.at("metadata")), R"({"resourceVersion":"7","continue":"c"})");
  EXPECT_EQ(read.at("columnDefinitions").as_array().size(), 3u);
  EXPECT_EQ(wire::serialize(read.at("rows").at(0).at("object")),
            R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)"
            R"({"name":"a","uid":"u1","creationTimestamp":"2026-11-21T01:22:14Z"}})");
}

TEST(Printed, RowsCarryWhatWasAskedFor) {
  const objects::RequestInfo info = info_of("/api/v1/namespaces/n/configmaps");
  const auto object = [&info](IncludeObject include) {
    const Printer printer(info, wire::Form::table, include, "");
    const auto table = wire::parse_json(printer.print(maps, printed_at()).value());
    return wire::serialize(table->at("rows").at(0).at("object"));
  };
  EXPECT_EQ(object(IncludeObject::none), "null");
  EXPECT_EQ(object(IncludeObject::object),
            R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u1",)"
            R"("creationTimestamp":"2026-11-21T01:22:14Z"},"data":{"k":"v"}})");
}

TEST(Printed, MetadataAloneIsMadeOfObjectsAndLists) {
  const objects::RequestInfo info = info_of("/api/v1/namespaces/n/configmaps");
  const Printer printer(info, wire::Form::metadata, IncludeObject::metadata, "");
  EXPECT_EQ(printer.print(maps, printed_at()).value(),
            R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)"
            R"({"resourceVersion":"7","continue":"c"},"items":[{"kind":"PartialObjectMetadata",)"
            R"("apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","uid":"u1",)"
            R"("creationTimestamp":"2026-11-21T01:22:14Z"}}]})"
            "\n");
}

TEST(Printed, OtherKindsHaveTheColumnsAndCellsThatWereSeenLast) {
  const objects::RequestInfo info = info_of("/apis/x.io/v1/widgets");
  EXPECT_FALSE(has_columns(info));
  const auto printed = [&info](const std::string& seen) {
    return Printer(info, wire::Form::table, IncludeObject::metadata, seen)
        .print(widgets, printed_at())
        .value();
  };
  EXPECT_EQ(cells_in(printed("")), "[\"w1\",\"60s\"]\n[\"w2\",\"24h\"]\n");
  std::string seen = remember_table("", table_of_widgets("u1", "3", "5s")).value();
  EXPECT_EQ(cells_in(printed(seen)),
            "[\"w1\",3,\"60s\"]\n[\"w2\",\"\\u003cunknown\\u003e\",\"24h\"]\n");
  EXPECT_EQ(remember_table(seen, table_of_widgets("u1", "3", "9s")).value(), seen)
      << "a change of the age alone is not stored";
  seen = remember_table(seen, table_of_widgets("u2", "4", "9s")).value();
  EXPECT_EQ(cells_in(printed(seen)), "[\"w1\",3,\"60s\"]\n[\"w2\",4,\"24h\"]\n");
}

TEST(Printed, WhatIsRememberedHasLimits) {
  std::string seen;
  const SeenTables few{.rows_max = 2};
  for (const char* uid : {"u1", "u2", "u3"}) {
    seen = remember_table(seen, table_of_widgets(uid, "1", "1s"), few).value();
  }
  EXPECT_EQ(wire::parse_json(seen)->at("rows").as_object().size(), 2u);
  const SeenTables small{.bytes_max = 10};
  seen = remember_table(seen, table_of_widgets("u4", "1", "1s"), small).value();
  EXPECT_EQ(wire::parse_json(seen)->at("rows").as_object().size(), 0u);
  EXPECT_EQ(wire::parse_json(seen)->at("columns").as_array().size(), 3u);
  EXPECT_FALSE(remember_table("", R"({"kind":"Status"})"));
  EXPECT_FALSE(remember_table("", "{"));
}

TEST(Printed, AWatchTellsItsColumnsOnceAndItsErrorsAsTheyAre) {
  Printer printer(info_of("/api/v1/configmaps"), wire::Form::table, IncludeObject::none, "");
  const std::string object =
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"5"}})";
  const auto event = [&printer, &object](const std::string& type) {
    const std::string text = R"({"type":")" + type + R"(","object":)" + object + "}";
    return wire::parse_json(printer.print_event(text, printed_at()).value()).value();
  };
  const json::value first = event("ADDED");
  EXPECT_EQ(first.at("type"), "ADDED");
  EXPECT_EQ(first.at("object").at("columnDefinitions").as_array().size(), 3u);
  EXPECT_EQ(wire::serialize(first.at("object").at("metadata")), R"({"resourceVersion":"5"})");
  EXPECT_TRUE(event("MODIFIED").at("object").at("columnDefinitions").is_null());
  EXPECT_TRUE(event("MODIFIED").at("object").at("rows").at(0).at("object").is_null());
  EXPECT_EQ(wire::serialize(event("BOOKMARK").at("object").at("rows").at(0).at("object")),
            R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)"
            R"({"name":"a","resourceVersion":"5"}})");
  const std::string error =
      R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410}})";
  EXPECT_EQ(printer.print_event(error, printed_at()).value(), error + "\n");
}

json::value recorded_tables() {
  std::ifstream in(HOLDFAST_SOURCE_ROOT "/test/data/tables/kubernetes-1.36.json");
  std::stringstream text;
  text << in.rdbuf();
  return wire::parse_json(text.str()).value();
}

// Removes ages, because the recorded objects and tables were read at different times: "4 (126m
// ago)" becomes "4 (ago)".
std::string without_ages(const json::value& cell, std::string_view column) {
  for (const char* age : {"Age", "Last Seen", "First Seen"}) {
    if (column == age) return "an age";
  }
  std::string text = wire::serialize(cell);
  const std::size_t from = text.find(" (");
  const std::size_t ago = text.find(" ago)");
  if (from != std::string::npos && ago != std::string::npos) text.erase(from + 2, ago - from - 1);
  return text;
}

std::string as_lines(const json::value& table) {
  std::string text;
  std::vector<std::string> names;
  for (const json::value& column : table.at("columnDefinitions").as_array()) {
    names.emplace_back(column.at("name").as_string());
    text += names.back();
    for (const char* field : {"type", "format", "priority"}) {
      text += " " + wire::serialize(column.at(field));
    }
    text += "\n";
  }
  for (const json::value& row : table.at("rows").as_array()) {
    std::size_t at = 0;
    for (const json::value& cell : row.at("cells").as_array()) {
      text += without_ages(cell, names.at(at++)) + " | ";
    }
    text += "\n";
  }
  return text;
}

TEST(Printed, EveryKindThatANodeHasIsPrintedAsKubernetesPrintsIt) {
  const json::value recorded = recorded_tables();
  const WallTime at = parse_rfc3339(recorded.at("at").as_string()).value();
  EXPECT_GE(recorded.at("kinds").as_object().size(), 24u);
  for (const auto& [path, forms] : recorded.at("kinds").as_object()) {
    SCOPED_TRACE(path);
    const objects::RequestInfo info = info_of(std::string(path));
    EXPECT_TRUE(has_columns(info));
    const Printer printer(info, wire::Form::table, IncludeObject::none, "");
    const std::string table = printer.print(wire::serialize(forms.at("list")), at).value();
    EXPECT_EQ(as_lines(wire::parse_json(table).value()), as_lines(forms.at("table")));
  }
}

}  // namespace
}  // namespace holdfast::sync::printing
