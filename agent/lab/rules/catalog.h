// All resources of a server: the built-in ones and those of its CustomResourceDefinitions.

#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/rules/custom_resource.h"
#include "sync/printing/resources.h"

namespace holdfast::agent::lab {

class Catalog {
 public:
  // Adds or replaces the resource of a stored definition. One that is not established is removed.
  void put(const boost::json::object& crd);
  void remove(std::string_view name);

  // nullptr if it is not served. A custom resource is valid until the next put() or remove();
  // share() keeps it.
  [[nodiscard]] const sync::printing::Resource* find_resource(std::string_view group,
                                                              std::string_view version,
                                                              std::string_view plural) const;
  [[nodiscard]] const sync::printing::Resource* find_kind(std::string_view group,
                                                          std::string_view kind) const;
  [[nodiscard]] std::shared_ptr<const CustomResource> share(
      const sync::printing::Resource& resource) const;

  // The groups of custom resources that have no built-in resources, sorted.
  [[nodiscard]] std::vector<std::string> groups() const;
  // The served versions of a group, preferred first. Of custom groups: stable ones before beta and
  // alpha, newer ones first.
  [[nodiscard]] std::vector<std::string> versions_of(std::string_view group) const;
  // The custom resources, by their definitions' names.
  [[nodiscard]] std::vector<std::shared_ptr<const CustomResource>> customs() const;

 private:
  std::map<std::string, std::shared_ptr<const CustomResource>, std::less<>> customs_;
};

}  // namespace holdfast::agent::lab
