// The limit on the number of nodes of a custom resource's schema.

#include "agent/lab/rules/custom_schema.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace holdfast::agent::lab {
namespace {

// The errors of a schema with so many nodes: the root and its properties.
std::vector<std::string> errors_with_nodes(std::size_t nodes) {
  boost::json::object properties;
  for (std::size_t at = 1; at < nodes; ++at) {
    properties["p" + std::to_string(at)] = boost::json::object{{"type", "string"}};
  }
  const boost::json::object schema = {{"type", "object"}, {"properties", std::move(properties)}};
  sync::wire::FieldErrors errors;
  check_schema(errors, schema, "schema");
  std::vector<std::string> texts;
  for (const sync::wire::FieldError& error : errors) texts.push_back(error.text());
  return texts;
}

TEST(CustomSchema, HasAtMost10000Nodes) {
  const std::vector<std::string> none;
  EXPECT_EQ(errors_with_nodes(1), none);
  EXPECT_EQ(errors_with_nodes(10'000), none);
  const std::vector<std::string> too_many = {
      "schema.properties[p10000]: Too many: 10001: must have at most 10000 items"};
  EXPECT_EQ(errors_with_nodes(10'001), too_many);
  EXPECT_EQ(errors_with_nodes(10'100), too_many) << "one error for all";
}

}  // namespace
}  // namespace holdfast::agent::lab
