#include "agent/lab/apiserver/registry.h"

#include <boost/json.hpp>

#include "agent/lab/rules/convert.h"
#include "platform/check.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view root = "/registry/";

StoredPtr make_stored(std::string key, std::int64_t revision, json::object object) {
  auto stored = std::make_shared<Stored>();
  stored->key = std::move(key);
  stored->revision = revision;
  stored->bytes = sync::wire::serialize(object);
  stored->object = std::move(object);
  return stored;
}

Result<StoredPtr> read_stored(const store::StoredValue& value) {
  TRY(json::value parsed, sync::wire::parse_json(value.value));
  if (!parsed.is_object()) return fail(Errc::corrupt, value.key + " is no object");
  auto stored = std::make_shared<Stored>();
  stored->key = value.key;
  stored->revision = value.mod_revision;
  stored->bytes = value.value;
  stored->object = std::move(parsed.get_object());
  return StoredPtr(std::move(stored));
}

// Sets the resourceVersion, with the fields of metadata in upstream's order.
void stamp(json::object& object, std::int64_t revision) {
  json::object& metadata = sync::wire::make_object(object, {"metadata"});
  metadata["resourceVersion"] = std::to_string(revision);
  auto shaped = sync::objects::shape(sync::known_type("ObjectMeta"), metadata, {}, {},
                                     sync::objects::ManagedFields::keep);
  CHECK(shaped.has_value());
  metadata = std::move(shaped->object);
}

}  // namespace

StoredPtr stamped(const StoredPtr& stored, std::int64_t revision) {
  json::object object = stored->object;
  stamp(object, revision);
  return make_stored(stored->key, revision, std::move(object));
}

std::string Registry::key_of(const sync::printing::Resource& resource, std::string_view name_space,
                             std::string_view name) {
  const sync::printing::Resource& stored = stored_resource(resource);
  std::string key(root);
  key.append(stored.group.empty() ? "core" : stored.group).append("/");
  key.append(stored.plural).append("/");
  if (stored.namespaced && name_space.empty()) return key;
  if (stored.namespaced) key.append(name_space).append("/");
  return key.append(name);
}

Result<std::unique_ptr<Registry>> Registry::open(const std::filesystem::path& file,
                                                 const RegistryLimits& limits) {
  store::DatabaseOptions database = store::Revisions::usual_options();
  if (limits.durable) database.durability = store::Durability::full;
  TRY(store::Revisions store, store::Revisions::open(file, database));
  std::unique_ptr<Registry> registry(new Registry(std::move(store), limits));
  if (auto loaded = registry->load(); !loaded) return fail("load " + file.string(), loaded.error());
  return registry;
}

Status Registry::load() {
  TRY(const store::ListPage page, store_.list({.prefix = std::string(root)}));
  for (const store::StoredValue& value : page.rows) {
    TRY(StoredPtr stored, read_stored(value));
    note_definition(stored.get(), *stored);
    objects_.emplace(value.key, std::move(stored));
  }
  history_floor_ = store_.current_revision();
  return {};
}

StoredPtr Registry::find(const sync::printing::Resource& resource, std::string_view name_space,
                         std::string_view name) const {
  const auto found = objects_.find(key_of(resource, name_space, name));
  return found == objects_.end() ? nullptr : found->second;
}

std::vector<StoredPtr> Registry::list(const sync::printing::Resource& resource,
                                      std::string_view name_space) const {
  const std::string prefix = key_of(resource, name_space, {});
  std::vector<StoredPtr> found;
  for (auto at = objects_.lower_bound(prefix); at != objects_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    found.push_back(at->second);
  }
  return found;
}

Result<std::vector<StoredPtr>> Registry::list_at(const sync::printing::Resource& resource,
                                                 std::string_view name_space,
                                                 std::int64_t revision) {
  if (revision == store_.current_revision()) return list(resource, name_space);
  const std::string prefix = key_of(resource, name_space, {});
  TRY(const store::ListPage page, store_.list({.prefix = prefix, .at = revision}));
  std::vector<StoredPtr> found;
  for (const store::StoredValue& value : page.rows) {
    TRY(StoredPtr stored, read_stored(value));
    found.push_back(std::move(stored));
  }
  return found;
}

Result<StoredPtr> Registry::put(const sync::printing::Resource& resource, json::object object,
                                const StoredPtr& replaced) {
  std::string key = key_of(resource, sync::wire::namespace_of(object), sync::wire::name_of(object));
  CHECK(!replaced || replaced->key == key);
  // The revision is part of the stored bytes, so it must be known before the write.
  const std::int64_t next = store_.current_revision() + 1;
  stamp(object, next);
  const StoredPtr stored = make_stored(std::move(key), next, std::move(object));
  TRY(const std::int64_t revision,
      store_.put(stored->key, stored->bytes, replaced ? replaced->revision : 0));
  CHECK(revision == next);
  objects_[stored->key] = stored;
  auto change = std::make_shared<Change>();
  *change = Change{revision, stored, replaced, stored};
  publish(std::move(change));
  return stored;
}

Status Registry::remove(const StoredPtr& stored) {
  TRY(const std::int64_t revision, store_.remove(stored->key, stored->revision));
  objects_.erase(stored->key);
  auto change = std::make_shared<Change>();
  *change = Change{revision, nullptr, stored, stamped(stored, revision)};
  publish(std::move(change));
  return {};
}

void Registry::note_definition(const Stored* now, const Stored& seen) {
  constexpr std::string_view definitions =
      "/registry/apiextensions.k8s.io/customresourcedefinitions/";
  if (!seen.key.starts_with(definitions)) return;
  if (now != nullptr) {
    catalog_.put(now->object);
  } else {
    catalog_.remove(sync::wire::name_of(seen.object));
  }
}

void Registry::publish(ChangePtr change) {
  note_definition(change->now.get(), *change->seen);
  history_.push_back(change);
  if (history_.size() > limits_.history) {
    history_floor_ = history_.front()->revision;
    history_.pop_front();
  }
  for (const Listener& listener : listeners_) listener(change);
}

Result<std::vector<ChangePtr>> Registry::changes_since(std::string_view prefix,
                                                       std::int64_t revision) {
  std::vector<ChangePtr> found;
  if (revision < store_.compacted_revision()) {
    return fail(Errc::gone, "too old resource version: " + std::to_string(revision) + " (" +
                                std::to_string(store_.compacted_revision()) + ")");
  }
  if (revision >= history_floor_) {
    for (const ChangePtr& change : history_) {
      if (change->revision > revision && change->key().starts_with(prefix)) {
        found.push_back(change);
      }
    }
    return found;
  }
  TRY(const std::vector<store::KeyEvent> events, store_.events_since(prefix, revision));
  for (const store::KeyEvent& event : events) {
    auto change = std::make_shared<Change>();
    change->revision = event.revision;
    if (event.previous) {
      TRY(change->before, read_stored(*event.previous));
    }
    if (event.kind == store::KeyEvent::Kind::put) {
      TRY(change->now,
          read_stored({event.key, event.value, event.create_revision, event.revision}));
      change->seen = change->now;
    } else {
      CHECK(change->before != nullptr);
      change->seen = stamped(change->before, event.revision);
    }
    found.push_back(std::move(change));
  }
  return found;
}

Status Registry::compact(std::int64_t revision) {
  if (revision <= store_.compacted_revision()) return {};
  if (auto done = store_.compact(revision); !done) return done;
  while (!history_.empty() && history_.front()->revision <= revision) {
    history_floor_ = history_.front()->revision;
    history_.pop_front();
  }
  return {};
}

}  // namespace holdfast::agent::lab
