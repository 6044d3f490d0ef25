// The resources that the lab's API server has: one table for discovery, routing, storage and
// printing.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sync::printing {

// The verbs of a resource or subresource.
enum class Verbs : std::uint8_t {
  none,
  all,
  no_collection_delete,
  get,
  create,
  create_get,
  update,
  get_patch_update,
};

// The names of the verbs in upstream's order: "create", "delete", ...
[[nodiscard]] std::span<const std::string_view> words(Verbs verbs);
[[nodiscard]] bool allows(Verbs verbs, std::string_view verb);

struct Subresource {
  std::string_view name;   // "status"
  std::string_view kind;   // of the body; empty: the resource's kind
  std::string_view group;  // of the body's kind, if it differs from the resource's
  std::string_view version;
  Verbs verbs;
};

// One served version of a group.
struct ServedVersion {
  std::string_view name;          // "v1beta1"
  std::string_view type = {};     // the kind's name in the schema, if it differs
  std::string_view warning = {};  // deprecation warning for clients
};

struct Resource {
  std::string_view group;               // "" for core
  std::vector<ServedVersion> versions;  // objects are stored in the first one
  std::string_view plural;
  std::string_view kind;
  bool namespaced;
  Verbs verbs;
  std::vector<std::string_view> short_names = {};
  std::vector<std::string_view> categories = {};
  std::string_view storage_hash = {};  // upstream's storageVersionHash; clients only compare it
  std::vector<Subresource> subresources = {};
  bool counts_generation = false;  // metadata.generation increases with every change of the spec
  bool is_custom = false;          // defined by an object of the server; in no table of this folder

  [[nodiscard]] const ServedVersion* version(std::string_view name) const;
  [[nodiscard]] const Subresource* subresource(std::string_view name) const;
  [[nodiscard]] bool has_status() const { return subresource("status") != nullptr; }
  // "pods", "leases.coordination.k8s.io": the name of the resource in errors.
  [[nodiscard]] std::string qualified() const;
  // "Deployment.apps": the name of the kind in validation errors.
  [[nodiscard]] std::string qualified_kind() const;
  [[nodiscard]] std::string list_kind() const { return std::string(kind) + "List"; }
  // "v1", "apps/v1"
  [[nodiscard]] std::string api_version(std::string_view version_name) const;
  // The apiVersion of stored objects.
  [[nodiscard]] std::string stored_version() const { return api_version(versions.front().name); }
};

// Sorted by plural within each group.
[[nodiscard]] std::span<const Resource> all_resources();

// nullptr if it is not served.
[[nodiscard]] const Resource* find_resource(std::string_view group, std::string_view version,
                                            std::string_view plural);
[[nodiscard]] const Resource* find_kind(std::string_view group, std::string_view kind);
// A kind that must be served (checked).
[[nodiscard]] const Resource& known_kind(std::string_view group, std::string_view kind);

// All named groups in upstream's order of discovery, and the versions of one group, preferred
// first.
[[nodiscard]] std::span<const std::string_view> all_groups();
[[nodiscard]] std::vector<std::string_view> versions_of(std::string_view group);

}  // namespace holdfast::sync::printing
