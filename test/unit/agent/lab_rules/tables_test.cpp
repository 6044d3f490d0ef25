// The tables agree with each other: every resource has a type, columns, cells and an entry in
// discovery. The most important cells have the right values.

#include "sync/printing/tables.h"

#include <boost/json.hpp>
#include <set>

#include "agent/lab/rules/convert.h"
#include "agent/lab/rules/discovery.h"
#include "agent/lab/rules/openapi.h"
#include "agent/lab/rules/openapi_schema.h"
#include "agent/lab/rules/openapi_v2.h"
#include "sync/objects/typed.h"
#include "sync/printing/cells.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

WallTime shown_at() { return parse_rfc3339("2026-11-21T01:23:14Z").value(); }

TEST(Resources, HaveATypeAndColumnsThatFitTheirCells) {
  for (const sync::printing::Resource& resource : sync::printing::all_resources()) {
    SCOPED_TRACE(resource.qualified());
    for (const sync::printing::ServedVersion& version : resource.versions) {
      const auto shaped = sync::objects::shape(type_of(resource, version), json::object());
      ASSERT_TRUE(shaped);
      EXPECT_TRUE(shaped->object.contains("metadata"));
    }
    if (!sync::printing::allows(resource.verbs, "list") || resource.group == "events.k8s.io")
      continue;
    const auto empty = sync::objects::shape(stored_type(resource), json::object());
    EXPECT_EQ(sync::printing::cells_of(resource, empty->object, shown_at()).size(),
              sync::printing::columns_of(resource).size());
  }
}

TEST(Resources, AreInDiscoveryAndOpenapi) {
  for (const sync::printing::Resource& resource : sync::printing::all_resources()) {
    for (const sync::printing::ServedVersion& version : resource.versions) {
      SCOPED_TRACE(resource.qualified() + " " + std::string(version.name));
      EXPECT_TRUE(resource_list(Catalog(), resource.group, version.name));
      const auto document = openapi_document(Catalog(), resource.group, version.name);
      ASSERT_TRUE(document);
      const json::object& schemas = sync::wire::dig_object(*document, {"components", "schemas"});
      const sync::StructType& type = type_of(resource, version);
      EXPECT_TRUE(schemas.contains(definition_name(type.name)));
    }
  }
  EXPECT_FALSE(resource_list(Catalog(), "apps", "v2"));
  EXPECT_FALSE(group_document(Catalog(), "no.such"));
  EXPECT_FALSE(openapi_document(Catalog(), "apps", "v2"));
}

// Collects the targets of all "$ref" in a value, at any depth.
void collect_references(const json::value& value, std::set<std::string>& found) {
  if (const json::array* list = value.if_array()) {
    for (const json::value& item : *list) collect_references(item, found);
  }
  if (const json::object* object = value.if_object()) {
    for (const auto& pair : *object) {
      if (pair.key() == "$ref") found.emplace(sync::wire::as_text(pair.value()));
      collect_references(pair.value(), found);
    }
  }
}

TEST(Openapi, OfVersionTwoIsWhole) {
  std::set<std::string> references;
  const json::object& document = openapi_v2_document();
  collect_references(json::value(document), references);
  const json::object& definitions = sync::wire::dig_object(document, {"definitions"});
  for (const std::string& reference : references) {
    EXPECT_TRUE(definitions.contains(reference.substr(reference.rfind('/') + 1))) << reference;
  }
  const json::array& tags = definitions.at("io.k8s.api.PodDisruptionBudget")
                                .at("x-kubernetes-group-version-kind")
                                .as_array();
  EXPECT_EQ(json::serialize(tags),
            R"([{"group":"policy","version":"v1","kind":"PodDisruptionBudget"},)"
            R"({"group":"policy","version":"v1beta1","kind":"PodDisruptionBudget"}])");
}

TEST(Openapi, RefersToNothingThatIsMissing) {
  for (const std::string_view group : sync::printing::all_groups()) {
    for (const std::string_view version : sync::printing::versions_of(group)) {
      const auto document = openapi_document(Catalog(), group, version);
      std::set<std::string> references;
      collect_references(json::value(*document), references);
      const json::object& schemas = sync::wire::dig_object(*document, {"components", "schemas"});
      for (const std::string& reference : references) {
        EXPECT_TRUE(schemas.contains(reference.substr(reference.rfind('/') + 1))) << reference;
      }
    }
  }
}

TEST(Convert, EventsAreTheSameInBothGroups) {
  const sync::printing::Resource* events =
      sync::printing::find_resource("events.k8s.io", "v1", "events");
  const sync::printing::Resource* core = sync::printing::find_resource("", "v1", "events");
  EXPECT_EQ(&stored_resource(*events), core);
  const auto served =
      sync::objects::shape(sync::known_type("EventsEvent"),
                           json::parse(R"({"metadata":{"name":"e"},"note":"n","deprecatedCount":2,)"
                                       R"("regarding":{"kind":"Pod"},"reportingController":"c"})"),
                           "Event", "events.k8s.io/v1");
  const sync::printing::ServedVersion& v1 = events->versions.front();
  const json::object stored = to_stored(*events, v1, served->object);
  EXPECT_EQ(sync::wire::dig_text(stored, {"message"}), "n");
  EXPECT_EQ(sync::wire::dig_int(stored, {"count"}), 2);
  EXPECT_EQ(sync::wire::dig_text(stored, {"involvedObject", "kind"}), "Pod");
  EXPECT_EQ(sync::wire::dig_text(stored, {"apiVersion"}), "v1");
  EXPECT_EQ(from_stored(*events, v1, stored), served->object);
}

TEST(Convert, SlicesRenameTheirTopology) {
  const sync::printing::Resource* slices =
      sync::printing::find_resource("discovery.k8s.io", "v1beta1", "endpointslices");
  const sync::printing::ServedVersion* beta = slices->version("v1beta1");
  const auto served = sync::objects::shape(
      sync::known_type("EndpointSliceV1beta1"),
      json::parse(R"({"addressType":"IPv4","endpoints":[{"addresses":["1.1.1.1"],)"
                  R"("topology":{"zone":"a"}}]})"),
      "EndpointSlice", "discovery.k8s.io/v1beta1");
  const json::object stored = to_stored(*slices, *beta, served->object);
  EXPECT_EQ(json::serialize(stored.at("endpoints").at_pointer("/0/deprecatedTopology")),
            R"({"zone":"a"})");
  EXPECT_EQ(from_stored(*slices, *beta, stored), served->object);
}

}  // namespace
}  // namespace holdfast::agent::lab
