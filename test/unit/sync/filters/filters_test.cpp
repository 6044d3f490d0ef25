// Every filter on every kind of object that it may get, in both encodings: an unchanged object
// keeps its bytes, a changed one its unknown fields.

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "sync/filters/chain.h"
#include "sync/objects/protobuf.h"
#include "sync/objects/protobuf_write.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"
#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "test/unit/sync/filters/filter_rows.h"

namespace holdfast::sync::filters::cases {
namespace {

// A field that only a newer API server would send.
std::string unknown_field() {
  std::string field;
  wire::append_wire(field, 99, std::string_view("kept"));
  return field;
}

const StructType& type_of(const Row& row) {
  const std::string kind = row.kind.substr(0, row.kind.find(' '));
  return *find_type(row.kind.ends_with("v1beta1") ? kind + "V1beta1" : kind);
}

std::string in_protobuf(const Row& row, const std::string& object_json) {
  const auto shaped = objects::shape(type_of(row), wire::parse_json(object_json).value()).value();
  const std::size_t blank = row.kind.find(' ');
  return wire::enveloped(
      row.kind.substr(blank + 1), row.kind.substr(0, blank),
      objects::write_protobuf(type_of(row), shaped.object).value() + unknown_field());
}

json::value decoded(const Row& row, const std::string& bytes) {
  const auto fields =
      objects::read_protobuf(type_of(row), wire::open_envelope(bytes).value().raw).value();
  return objects::shape(type_of(row), fields).value().object;
}

TEST(HubFilters, EachRulesOnJson) {
  for (const Row& row : rows()) {
    // A field that no schema has.
    const std::string in = row.in.substr(0, row.in.size() - 1) + R"(,"future":{"a":[1]}})";
    const auto shown = filter_object({row.filter}, row.with, in);
    ASSERT_TRUE(shown) << row.name << ": " << shown.error().what;
    EXPECT_EQ(shown->effect, row.effect) << to_string(row.filter) << ": " << row.name;
    EXPECT_EQ(shown->need, row.need) << row.name;
    if (row.effect != changed) {
      EXPECT_EQ(shown->bytes, "") << row.name;
      continue;
    }
    json::object out = wire::parse_json(row.out).value().as_object();
    out["future"] = wire::parse_json(R"({"a":[1]})").value();
    EXPECT_EQ(wire::parse_json(shown->bytes).value(), json::value(out)) << row.name << shown->bytes;
    EXPECT_EQ(filter_object({row.filter}, row.with, shown->bytes)->effect, none)
        << row.name << ": again";
  }
}

TEST(HubFilters, EachRulesOnProtobuf) {
  for (const Row& row : rows()) {
    const auto shown = filter_object({row.filter}, row.with, in_protobuf(row, row.in));
    ASSERT_TRUE(shown) << row.name << ": " << shown.error().what;
    EXPECT_EQ(shown->effect, row.effect) << to_string(row.filter) << ": " << row.name;
    EXPECT_EQ(shown->need, row.need) << row.name;
    if (row.effect == changed) {
      EXPECT_EQ(decoded(row, shown->bytes), decoded(row, in_protobuf(row, row.out))) << row.name;
      EXPECT_NE(shown->bytes.find(unknown_field()), std::string::npos) << row.name;
    }
  }
}

TEST(HubFilters, WhatIsUnknownInsideOfChangedItemsStays) {
  // A service's port, a container's variable, an endpoint that is kept.
  const auto with_unknown = [](std::string_view kind, std::string_view version,
                               std::initializer_list<int> path, std::string inner) {
    inner += unknown_field();
    std::string bytes;
    for (auto number = std::rbegin(path); number != std::rend(path); ++number) {
      bytes.clear();
      wire::append_wire(bytes, *number, inner);
      inner = bytes;
    }
    return std::pair(std::string(kind) + " " + std::string(version), bytes);
  };
  std::string port;
  wire::append_wire(port, 1, std::string_view("https"));
  wire::append_wire(port, 3, std::int64_t{443});
  std::string variable_bytes;
  wire::append_wire(variable_bytes, 1, std::string_view("KUBERNETES_SERVICE_HOST"));
  wire::append_wire(variable_bytes, 2, std::string_view("10.96.0.1"));
  std::string endpoint;
  wire::append_wire(endpoint, 1, std::string_view("10.0.0.1"));
  wire::append_wire(endpoint, 2, std::string_view());
  wire::append_wire(endpoint, 6, std::string_view("edge-a"));
  struct Case {
    Filter filter;
    std::string space, name, label;
    std::pair<std::string, std::string> rest;
  };
  const Case cases[] = {
      {master_service, "default", "kubernetes", "", with_unknown("Service", "v1", {2, 1}, port)},
      {service_env_updater, "ns", "p", "", with_unknown("Pod", "v1", {2, 2, 7}, variable_bytes)},
      {service_topology, "ns", "s", "local",
       with_unknown("EndpointSlice", "discovery.k8s.io/v1", {2}, endpoint)},
  };
  for (const Case& c : cases) {
    std::string metadata;
    wire::append_wire(metadata, 1, c.name);
    wire::append_wire(metadata, 3, c.space);
    std::string label;
    wire::append_wire(label, 1, service_label);
    wire::append_wire(label, 2, c.label);
    if (!c.label.empty()) wire::append_wire(metadata, 11, label);
    std::string raw;
    wire::append_wire(raw, 1, metadata);
    raw += c.rest.second;
    std::string elsewhere;  // an endpoint that is removed
    wire::append_wire(elsewhere, 1, std::string_view("10.0.0.2"));
    if (!c.label.empty()) wire::append_wire(raw, 2, elsewhere);
    const std::size_t blank = c.rest.first.find(' ');
    const auto shown = filter_object(
        {c.filter}, known,
        wire::enveloped(c.rest.first.substr(blank + 1), c.rest.first.substr(0, blank), raw));
    ASSERT_TRUE(shown) << to_string(c.filter) << shown.error().what;
    EXPECT_EQ(shown->effect, changed) << to_string(c.filter);
    EXPECT_NE(shown->bytes.find(unknown_field()), std::string::npos) << to_string(c.filter);
  }
}

TEST(HubFilters, BrokenObjectsAreErrorsAndNeverShown) {
  const FilterChain all(all_filters.begin(), all_filters.end());
  const std::string broken[] = {
      "",
      "[]",
      "{",
      R"({"metadata":{"name":"kubernetes","namespace":"default")",
      R"({"metadata":{"name":"kubernetes","namespace":"default"},"spec":)",
      wire::enveloped("v1", "Service", "\x0a\x50"),
      wire::enveloped("v9", "Nothing", "")};
  for (const std::string& bytes : broken) {
    const auto shown = filter_object(all, known, bytes);
    EXPECT_TRUE(!shown || shown->effect == none) << bytes;
  }
  // Fields of unexpected types are left alone.
  const std::string odd[] = {
      R"({"metadata":{"name":"kubernetes","namespace":"default"},"spec":[]})",
      R"({"metadata":{"name":"kubernetes","namespace":"default"},"spec":{"ports":"x"}})",
      R"({"metadata":{"name":"kube-proxy","namespace":"kube-system"},"data":{"config.conf":7}})",
      R"({"metadata":{"name":"local","namespace":"ns"},"subsets":[7,"x"]})",
      R"({"metadata":{"name":"p","namespace":"ns"},"spec":{"containers":)"
      R"([{"env":"KUBERNETES_SERVICE_HOST"},7]}})"};
  for (const std::string& bytes : odd) {
    const auto shown = filter_object(all, known, bytes);
    ASSERT_TRUE(shown) << bytes;
    EXPECT_EQ(shown->effect, none) << bytes;
  }
}

}  // namespace
}  // namespace holdfast::sync::filters::cases
