// CustomResourceDefinitions themselves: defaults, validation and status.

#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "platform/time.h"
#include "sync/wire/field_error.h"

namespace holdfast::agent::lab {

struct DefinitionLimits {
  std::size_t definitions = 1000;
  std::size_t versions = 20;  // of one definition
  std::size_t columns = 50;   // of one version
};

// Keeps a definition until its objects are deleted.
inline constexpr std::string_view definition_finalizer =
    "customresourcecleanup.apiextensions.k8s.io";

// Fills in singular, listKind and the conversion strategy None.
void default_definition(boost::json::object& crd);

void check_definition(sync::wire::FieldErrors& errors, const boost::json::object& crd);

// What may not change: group, scope, names, and the versions in which objects are stored.
void check_definition_update(sync::wire::FieldErrors& errors, const boost::json::object& crd,
                             const boost::json::object& old);

// The status of a new or changed definition. `others` are the other definitions; a name that one of
// them has is not accepted, and the definition is not served.
[[nodiscard]] boost::json::object definition_status(
    const boost::json::object& crd, const std::vector<const boost::json::object*>& others,
    WallTime now);

// Whether it is served.
[[nodiscard]] bool is_established(const boost::json::object& crd);

// Warnings for the client: rules that are not evaluated.
[[nodiscard]] std::vector<std::string> definition_warnings(const boost::json::object& crd);

}  // namespace holdfast::agent::lab
