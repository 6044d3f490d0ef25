#include "agent/lab/apiserver/editor.h"

#include <boost/json.hpp>

#include "agent/lab/apiserver/admission.h"
#include "agent/lab/rules/convert.h"
#include "agent/lab/rules/custom_definition.h"
#include "agent/lab/rules/custom_resource.h"
#include "agent/lab/rules/decode.h"
#include "agent/lab/rules/validation.h"
#include "platform/check.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

sync::wire::GroupResource named(const sync::printing::Resource& resource) {
  return {resource.group, resource.plural};
}

// A result that is not in the registry, for dry runs.
StoredPtr unstored(json::object object) {
  auto stored = std::make_shared<Stored>();
  stored->bytes = sync::wire::serialize(object);
  stored->object = std::move(object);
  return stored;
}

sync::wire::ApiStatus invalid(const sync::printing::Resource& resource, const json::object& object,
                              const sync::wire::FieldErrors& errors) {
  return sync::wire::status::invalid({resource.group, resource.kind}, sync::wire::name_of(object),
                                     errors);
}

// Converts an error of the store to a Status.
sync::wire::ApiStatus failed(const sync::printing::Resource& resource, std::string_view name,
                             const Error& error) {
  if (error.code == Errc::conflict) return sync::wire::status::conflict(named(resource), name);
  return sync::wire::status::from_error(error);
}

// The name that the client gave, or generateName if the server is to complete it.
std::string given_name(const json::object& object) {
  const std::string_view name = sync::wire::name_of(object);
  return std::string(name.empty() ? sync::wire::dig_text(object, {"metadata", "generateName"})
                                  : name);
}

void keep_version(json::object& object, const json::object& old) {
  sync::wire::make_object(object, {"metadata"})["resourceVersion"] = sync::wire::version_of(old);
}

}  // namespace

sync::wire::ApiStatus missing(const sync::printing::Resource& resource, std::string_view name) {
  return sync::wire::status::not_found(named(resource), name);
}

Answer<bool> Editor::check_namespace(const sync::printing::Resource& resource,
                                     std::string_view name, std::string_view name_space) const {
  if (!resource.namespaced) return true;
  const StoredPtr space =
      registry_.find(sync::printing::known_kind("", "Namespace"), {}, name_space);
  if (!space) return refuse(sync::wire::status::not_found({"", "namespaces"}, name_space));
  if (!sync::wire::is_terminating(space->object)) return true;
  sync::wire::ApiStatus status = sync::wire::status::forbidden(
      named(resource), name,
      "unable to create new content in namespace " + std::string(name_space) +
          " because it is being terminated");
  status.details->causes.push_back({"NamespaceTerminating",
                                    "namespace " + std::string(name_space) + " is being terminated",
                                    "metadata.namespace"});
  return refuse(std::move(status));
}

// Sets the status of a definition.
void Editor::accept_definition(json::object& crd) const {
  std::vector<const json::object*> others;
  const std::vector<StoredPtr> stored = registry_.list(
      sync::printing::known_kind("apiextensions.k8s.io", "CustomResourceDefinition"));
  others.reserve(stored.size());
  for (const StoredPtr& other : stored) others.push_back(&other->object);
  crd["status"] = definition_status(crd, others, clock_.wall());
}

Answer<bool> Editor::check_custom(const sync::printing::Resource& resource) const {
  if (resource.kind == "CustomResourceDefinition") {
    const std::size_t most = DefinitionLimits{}.definitions;
    if (registry_.list(resource).size() < most) return true;
    return refuse(sync::wire::status::forbidden(
        named(resource), "",
        "exceeded the limit of " + std::to_string(most) + " custom resource definitions"));
  }
  const CustomResource* custom = custom_of(resource);
  if (custom == nullptr || !custom->terminating) return true;
  sync::wire::ApiStatus refused = sync::wire::status::generic(405);
  refused.message = "create not allowed while custom resource definition is terminating";
  return refuse(std::move(refused));
}

Answer<json::object> Editor::admit(const sync::printing::Resource& resource, json::object object) {
  if (resource.is_custom) return object;
  if (resource.kind == "CustomResourceDefinition") {
    accept_definition(object);
    return canonical(resource, std::move(object));
  }
  if (resource.kind == "Pod") return admit_pod(registry_, std::move(object));
  if (resource.kind == "Service") return admit_service(registry_, std::move(object), random_);
  return object;
}

void Editor::note_author(const sync::printing::Resource& resource, const json::object& before,
                         json::object& after, const Author& author) const {
  if (author.applies) return;
  FieldManager manager{author.manager, author.api_version, author.subresource, clock_.wall()};
  if (manager.api_version.empty()) manager.api_version = stored_resource(resource).stored_version();
  note_update(before, after, merge_type_of(resource), manager);
}

Answer<StoredPtr> Editor::create(const sync::printing::Resource& resource, json::object object,
                                 std::string_view name_space, bool dry_run, const Author& author) {
  const Target target{name_space, {}};
  const std::string given = given_name(object);
  if (const auto fine = check_custom(resource); !fine) return refuse(fine.error());
  // A new object has no status, except a node's.
  if (resource.has_status() && resource.kind != "Node") object.erase("status");
  const sync::printing::Resource& kept = stored_resource(resource);
  note_author(kept, zero_of(kept, kept.versions.front()), object, author);
  auto made = prepare_create(resource, std::move(object), target, clock_.wall(), random_);
  if (!made) return refuse(made.error());
  if (const auto fine = check_namespace(resource, given, name_space); !fine) {
    return refuse(fine.error());
  }
  auto admitted = admit(resource, *std::move(made));
  if (!admitted) return refuse(admitted.error());
  const sync::wire::FieldErrors errors = validate(resource, *admitted);
  if (!errors.empty()) return refuse(invalid(resource, *admitted, errors));
  const std::string name(sync::wire::name_of(*admitted));
  if (registry_.find(resource, name_space, name)) {
    return refuse(sync::wire::status::already_exists(named(resource), name));
  }
  if (dry_run) return unstored(*std::move(admitted));
  auto stored = registry_.put(resource, *std::move(admitted), nullptr);
  if (!stored) return refuse(failed(resource, name, stored.error()));
  return *std::move(stored);
}

Answer<StoredPtr> Editor::update(const sync::printing::Resource& resource, const Target& target,
                                 Part part, const Change& change, bool dry_run,
                                 const Author& author) {
  const StoredPtr old = registry_.find(resource, target.name_space, target.name);
  if (!old) return refuse(missing(resource, target.name));
  auto wanted = change(old->object);
  if (!wanted) return refuse(wanted.error());
  auto made = prepare_update(resource, *std::move(wanted), old->object, target, part);
  if (!made) return refuse(made.error());
  if (resource.kind == "CustomResourceDefinition" && !resource.is_custom && part == Part::object) {
    accept_definition(*made);
    made = canonical(resource, *std::move(made));
  }
  if (part == Part::object || resource.is_custom) {
    sync::wire::FieldErrors errors = validate(resource, *made);
    for (sync::wire::FieldError& error : validate_update(resource, *made, old->object)) {
      errors.push_back(std::move(error));
    }
    if (!errors.empty()) return refuse(invalid(resource, *made, errors));
  } else {
    const sync::wire::FieldErrors errors = validate_status_update(resource, *made, old->object);
    if (!errors.empty()) return refuse(invalid(resource, *made, errors));
  }
  keep_version(*made, old->object);
  // As upstream, a write that changes nothing keeps the resourceVersion and causes no event.
  if (*made == old->object) return old;
  note_author(resource, old->object, *made, author);
  if (same_but_times(*made, old->object)) return old;
  if (dry_run) return unstored(canonical(resource, *std::move(made)));
  return replace(resource, *std::move(made), old);
}

Answer<StoredPtr> Editor::replace(const sync::printing::Resource& resource, json::object object,
                                  const StoredPtr& old) {
  auto stored = registry_.put(resource, std::move(object), old);
  if (!stored) return refuse(failed(resource, sync::wire::name_of(old->object), stored.error()));
  if (is_deletable(resource, (*stored)->object)) {
    if (const auto removed = registry_.remove(*stored); !removed) {
      return refuse(failed(resource, sync::wire::name_of(old->object), removed.error()));
    }
  }
  return *std::move(stored);
}

Answer<Removed> Editor::remove(const sync::printing::Resource& resource, const Target& target,
                               const DeleteOptions& options) {
  StoredPtr stored = registry_.find(resource, target.name_space, target.name);
  if (!stored) return refuse(missing(resource, target.name));
  const auto allowed = check_preconditions(resource, stored->object, options);
  if (!allowed) return refuse(allowed.error());
  Deletion deletion = plan_deletion(resource, stored->object, options, clock_.wall());
  if (options.dry_run) {
    if (deletion.marked) stored = unstored(*std::move(deletion.marked));
    return Removed{stored, deletion.remove};
  }
  if (options.propagation == "Orphan") orphan_dependents(stored);
  if (deletion.marked) {
    auto marked = registry_.put(resource, *std::move(deletion.marked), stored);
    if (!marked) return refuse(failed(resource, target.name, marked.error()));
    stored = *std::move(marked);
  }
  if (deletion.remove) {
    if (const auto removed = registry_.remove(stored); !removed) {
      return refuse(failed(resource, target.name, removed.error()));
    }
  }
  return Removed{stored, deletion.remove};
}

// Removes the owner from the ownerReferences of its dependents, so that they are not deleted with
// it.
void Editor::orphan_dependents(const StoredPtr& owner) {
  const std::string uid(sync::wire::uid_of(owner->object));
  std::vector<StoredPtr> dependents;
  for (const auto& [key, stored] : registry_.all()) {
    for (const json::value& reference :
         sync::wire::dig_list(stored->object, {"metadata", "ownerReferences"})) {
      const bool owned = sync::wire::dig_text(sync::wire::as_object(reference), {"uid"}) == uid;
      if (owned) dependents.push_back(stored);
    }
  }
  for (const StoredPtr& dependent : dependents) {
    const std::string_view api_version = sync::wire::dig_text(dependent->object, {"apiVersion"});
    const std::size_t slash = api_version.find('/');
    const std::string_view group =
        slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
    const sync::printing::Resource* resource =
        registry_.catalog().find_kind(group, sync::wire::dig_text(dependent->object, {"kind"}));
    if (resource == nullptr) continue;  // of a definition that was deleted
    json::object object = dependent->object;
    json::value& owners = sync::wire::make_object(object, {"metadata"})["ownerReferences"];
    json::array kept;
    for (const json::value& reference : owners.get_array()) {
      if (sync::wire::dig_text(sync::wire::as_object(reference), {"uid"}) != uid)
        kept.push_back(reference);
    }
    owners = std::move(kept);
    (void)registry_.put(*resource, canonical(*resource, std::move(object)), dependent);
  }
}

}  // namespace holdfast::agent::lab
