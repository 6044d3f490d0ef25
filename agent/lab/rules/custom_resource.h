// A resource that a CustomResourceDefinition defines: how it is served, stored and printed.

#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/lab/rules/answer.h"
#include "agent/lab/rules/decode.h"
#include "platform/time.h"
#include "sync/printing/resources.h"
#include "sync/printing/tables.h"

namespace holdfast::agent::lab {

// Does not move: the texts of the base refer to the definition.
struct CustomResource : sync::printing::Resource {
  // From a valid, stored CustomResourceDefinition.
  [[nodiscard]] static std::shared_ptr<const CustomResource> make(const boost::json::object& crd);

  boost::json::object definition;
  std::string singular;
  bool terminating = false;

  // The entry of spec.versions; empty for an unknown version.
  [[nodiscard]] const boost::json::object& version_of(std::string_view version) const;
  // Its schema; nullptr if it has none.
  [[nodiscard]] const boost::json::object* schema_of(std::string_view version) const;
  [[nodiscard]] bool has_subresource(std::string_view version, std::string_view name) const;
  [[nodiscard]] bool serves(std::string_view version) const;
  [[nodiscard]] std::string_view storage_version() const { return versions.front().name; }

 private:
  std::deque<std::string> texts_;
};

// nullptr for a built-in resource.
[[nodiscard]] const CustomResource* custom_of(const sync::printing::Resource& resource);

// As decode_object(), canonical(), from_stored() and validate() for built-in kinds.
[[nodiscard]] Answer<Decoded> decode_custom(const CustomResource& resource,
                                            const sync::printing::ServedVersion& version,
                                            const boost::json::object& given,
                                            FieldValidation validation);
[[nodiscard]] boost::json::object canonical_custom(const CustomResource& resource,
                                                   boost::json::object object);
[[nodiscard]] boost::json::object serve_custom(const CustomResource& resource,
                                               const sync::printing::ServedVersion& version,
                                               const boost::json::object& object);
void validate_custom(sync::wire::FieldErrors& errors, const CustomResource& resource,
                     const boost::json::object& object);

// A Table with the version's additionalPrinterColumns.
[[nodiscard]] boost::json::object custom_table(const CustomResource& resource,
                                               std::string_view version,
                                               boost::json::object metadata,
                                               const boost::json::array& objects, WallTime now,
                                               sync::printing::IncludeObject include,
                                               bool with_columns);

// The value at a simple JSON path (".spec.replicas", ".status.conditions[0].type"); nullptr if
// there is none.
[[nodiscard]] const boost::json::value* value_at(const boost::json::object& object,
                                                 std::string_view path);

}  // namespace holdfast::agent::lab
