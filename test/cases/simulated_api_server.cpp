#include "test/cases/simulated_api_server.h"

#include <utility>

#include "sync/wire/codec.h"

namespace holdfast::cases {
namespace {

std::string space_of(const std::string& kind, std::string space) {
  if (kind == "Node") return {};
  if (!space.empty()) return space;
  return kind == "Lease" ? "kube-node-lease" : "default";
}

std::string key_of(const std::string& kind, const std::string& space, const std::string& name) {
  return kind + "|" + space_of(kind, space) + "|" + name;
}

std::string key_of(const json::object& object) {
  const json::object& meta = object_in(object, "metadata");
  return key_of(text(object, "kind"), text(meta, "namespace"), text(meta, "name"));
}

std::string key_of_item(const json::object& item) {
  return key_of(needs_text(item, "kind"), text(item, "namespace"), needs_text(item, "name"));
}

template <class T>
void check_readable(const json::object& object) {
  const auto decoded = sync::wire::decode<T>(object);
  if (!decoded) throw Malformed(object, {}, decoded.error().what);
}

// The rules use "namespace/name" as a key.
void check_name(const json::object& meta, std::string_view field) {
  if (text(meta, field).find('/') == std::string::npos) return;
  throw Malformed(meta, field, "contains a slash");
}

// Throws Malformed if the API server could not have this object.
void check_object(const json::object& object) {
  const json::object& meta = needs_object(object, "metadata");
  (void)needs_text(meta, "name");
  check_name(meta, "name");
  check_name(meta, "namespace");
  const std::string kind = needs_text(object, "kind");
  if (kind == "Node") return check_readable<sync::Node>(object);
  if (kind == "Pod") return check_readable<sync::Pod>(object);
  if (kind == "Lease") return check_readable<sync::Lease>(object);
  if (kind == "DaemonSet") return check_readable<sync::DaemonSet>(object);
  throw Malformed(object, "kind", "unknown kind " + kind);
}

bool hits(const json::object& match, const Request& request) {
  const auto agrees = [&match](std::string_view field, const std::string& value) {
    return find(match, field) == nullptr || text(match, field) == value;
  };
  // A match without a subresource applies only to requests for the object itself.
  return agrees("verb", request.verb) && agrees("resource", request.resource) &&
         text(match, "subresource") == request.subresource && agrees("name", request.name) &&
         agrees("namespace", request.namespace_name);
}

Errc error_of(double status) {
  if (status == 404) return Errc::not_found;
  if (status == 409) return Errc::conflict;
  if (status == 401 || status == 403) return Errc::denied;
  if (status == 429) return Errc::exhausted;
  if (status == 504) return Errc::timeout;
  return status < 500 ? Errc::invalid : Errc::unavailable;
}

}  // namespace

void SimulatedApiServer::set(const json::object& object) {
  check_object(object);
  put(object, false);
}

void SimulatedApiServer::update(const json::value& item) {
  reading(item, [this, &item] { patch(object_of(item)); });
}

void SimulatedApiServer::patch(const json::object& item) {
  const std::string key = key_of_item(item);
  const auto found = objects_.find(key);
  if (found == objects_.end()) throw Malformed(item, {}, "update of an object that is not there");
  const json::object& changes = needs_object(item, "mergePatch");
  json::value value = found->second;
  merge_patch(value, changes);
  check_object(value.get_object());
  if (key_of(value.get_object()) != key) {
    throw Malformed(item, "mergePatch", "changes the kind, namespace or name");
  }
  put(std::move(value.get_object()), false);
}

void SimulatedApiServer::remove(const json::object& item) {
  const std::string key = key_of_item(item);
  if (!objects_.contains(key)) throw Malformed(item, {}, "delete of an object that is not there");
  erase(key);
}

void SimulatedApiServer::replace(const json::object& object) {
  check_object(object);
  put(object, true);
}

void SimulatedApiServer::add_fault(const json::object& fault) {
  (void)object_in(fault, "match");
  const double times = find(fault, "times") == nullptr ? 1e9 : number(fault, "times");
  (void)integer_of(needs(fault, "status"), {400, 599});
  faults_.push_back({fault, times});
}

std::optional<Errc> SimulatedApiServer::ask(const Request& request) {
  if (request.verb != "get") {
    const std::string below = request.subresource.empty() ? "" : "/" + request.subresource;
    ++writes_[request.verb + " " + request.resource + below];
  }
  if (request.verb == "delete") ++attempts_[request.namespace_name + "/" + request.name];
  for (Fault& fault : faults_) {
    if (fault.left < 1 || !hits(object_in(fault.what, "match"), request)) continue;
    fault.left -= 1;
    return error_of(number(fault.what, "status", 500));
  }
  if (request.resource == "pods-index") return std::nullopt;
  const std::string kind = request.resource == "nodes" ? "Node" : "Pod";
  if (find_object(kind, request.namespace_name, request.name) == nullptr) return Errc::not_found;
  return std::nullopt;
}

const json::object* SimulatedApiServer::find_object(const std::string& kind,
                                                    const std::string& space,
                                                    const std::string& name) const {
  const auto found = objects_.find(key_of(kind, space, name));
  return found == objects_.end() ? nullptr : &found->second;
}

void SimulatedApiServer::store(json::object object) { put(std::move(object), false); }

void SimulatedApiServer::delete_pod(const std::string& space, const std::string& name,
                                    const std::string& now) {
  deleted_.push_back(space + "/" + name);
  const std::string key = key_of("Pod", space, name);
  if (!graceful_) {
    erase(key);
    return;
  }
  json::object pod = objects_.at(key);
  json::object& meta = pod["metadata"].as_object();
  if (find(meta, "deletionTimestamp") == nullptr) {
    meta["deletionTimestamp"] = now;
    meta["deletionGracePeriodSeconds"] = 30;
  }
  put(std::move(pod), false);
}

std::vector<Change> SimulatedApiServer::take_changes() { return std::exchange(changes_, {}); }

std::vector<Change> SimulatedApiServer::everything() const {
  std::vector<Change> changes;
  for (const auto& [key, object] : objects_) {
    changes.push_back(
        {text(object, "kind"), text(object_in(object, "metadata"), "name"), {}, object});
  }
  return changes;
}

void SimulatedApiServer::put(json::object object, bool fresh) {
  const std::string key = key_of(object);
  const auto found = objects_.find(key);
  Change change{text(object, "kind"), text(object_in(object, "metadata"), "name"), {}, {}};
  json::object& meta = object["metadata"].as_object();
  const std::string space = space_of(change.kind, text(meta, "namespace"));
  if (!space.empty()) meta["namespace"] = space;
  if (found != objects_.end()) change.before = found->second;
  meta["resourceVersion"] = std::to_string(++version_);
  if (find(meta, "uid") == nullptr) {
    const bool kept = change.before && !fresh;
    meta["uid"] = kept ? text(object_in(*change.before, "metadata"), "uid")
                       : "uid-" + std::to_string(version_);
  }
  change.after = object;
  objects_[key] = std::move(object);
  changes_.push_back(std::move(change));
}

void SimulatedApiServer::erase(const std::string& key) {
  const auto found = objects_.find(key);
  const json::object& object = found->second;
  changes_.push_back(
      {text(object, "kind"), text(object_in(object, "metadata"), "name"), object, {}});
  objects_.erase(found);
}

}  // namespace holdfast::cases
