// The resources we serve: one table that discovery, routing, storage and printing read.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sync {

// What may be done with a resource or subresource, as bits.
enum class Verbs : std::uint8_t {
  none,
  all,
  no_collection_delete,
  create,
  update,
  get_patch_update,
};

// The words of a set of verbs in upstream's order: "create", "delete", ...
[[nodiscard]] std::span<const std::string_view> words(Verbs verbs);
[[nodiscard]] bool allows(Verbs verbs, std::string_view verb);

struct Subresource {
  std::string_view name;   // "status"
  std::string_view kind;   // of the body; empty: the resource's own
  std::string_view group;  // of the body's kind, when it is another's
  std::string_view version;
  Verbs verbs;
};

// One served version of a group.
struct ServedVersion {
  std::string_view name;          // "v1beta1"
  std::string_view type = {};     // the schema's name of the kind, where it is not the kind
  std::string_view warning = {};  // the deprecation that a client is told of
};

struct Resource {
  std::string_view group;               // "" for core
  std::vector<ServedVersion> versions;  // the first is how objects are stored
  std::string_view plural;
  std::string_view kind;
  bool namespaced;
  Verbs verbs;
  std::vector<std::string_view> short_names = {};
  std::vector<std::string_view> categories = {};
  std::string_view storage_hash = {};  // upstream's, which clients compare and nothing else
  std::vector<Subresource> subresources = {};
  bool counts_generation = false;  // metadata.generation grows with every change of the spec

  [[nodiscard]] const ServedVersion* version(std::string_view name) const;
  [[nodiscard]] const Subresource* subresource(std::string_view name) const;
  [[nodiscard]] bool has_status() const { return subresource("status") != nullptr; }
  // "pods", "leases.coordination.k8s.io": how errors name the resource.
  [[nodiscard]] std::string qualified() const;
  // "Deployment.apps": how validation errors name the kind.
  [[nodiscard]] std::string qualified_kind() const;
  [[nodiscard]] std::string list_kind() const { return std::string(kind) + "List"; }
  // "v1", "apps/v1"
  [[nodiscard]] std::string api_version(std::string_view version_name) const;
  // The one objects are stored under.
  [[nodiscard]] std::string stored_version() const { return api_version(versions.front().name); }
};

// Sorted by plural within each group.
[[nodiscard]] std::span<const Resource> all_resources();

// Nullptr when we do not serve it.
[[nodiscard]] const Resource* find_resource(std::string_view group, std::string_view version,
                                            std::string_view plural);
[[nodiscard]] const Resource* find_kind(std::string_view group, std::string_view kind);
// One that we serve; anything else is a broken invariant.
[[nodiscard]] const Resource& known_kind(std::string_view group, std::string_view kind);

// The named groups in upstream's order of discovery, and the versions of one, preferred first.
[[nodiscard]] std::span<const std::string_view> all_groups();
[[nodiscard]] std::vector<std::string_view> versions_of(std::string_view group);

}  // namespace holdfast::sync
