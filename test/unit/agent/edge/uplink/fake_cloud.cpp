#include "test/unit/agent/edge/uplink/fake_cloud.h"

#include <algorithm>

#include "agent/edge/route/answer.h"
#include "platform/check.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/objects/patch/patch.h"
#include "sync/wire/object_header.h"
#include "sync/wire/read.h"

namespace holdfast::agent::uplink {
namespace {

namespace json = sync::json;

const std::map<std::string, std::string, std::less<>> kinds = {
    {"nodes", "Node"},
    {"pods", "Pod"},
    {"configmaps", "ConfigMap"},
    {"secrets", "Secret"},
    {"services", "Service"},
    {"events", "Event"},
    {"leases", "Lease"},
    {"endpointslices", "EndpointSlice"},
    {"csinodes", "CSINode"},
    {"persistentvolumeclaims", "PersistentVolumeClaim"},
    {"persistentvolumes", "PersistentVolume"}};

// Resources that the Node authorizer lets a node get by name only.
bool is_got_by_name(std::string_view path) {
  const std::string_view resource = path.substr(path.rfind('/') + 1);
  return resource == "csinodes" || resource.starts_with("persistentvolume");
}

std::string kind_of(const std::string& collection) {
  return kinds.find(collection.substr(collection.rfind('/') + 1))->second;
}

std::string api_version_of(const std::string& collection) {
  if (collection.starts_with("/api/v1/")) return "v1";
  const auto words = split(collection, '/');
  return std::string(words[2]) + "/" + std::string(words[3]);
}

// The collection's path without its namespace, as used by a list over all namespaces.
std::string everywhere(const std::string& collection) {
  const std::size_t at = collection.find("/namespaces/");
  if (at == std::string::npos) return collection;
  return collection.substr(0, at) + collection.substr(collection.rfind('/'));
}

bool is_in(const std::string& collection, const std::string& asked) {
  return collection == asked || everywhere(collection) == asked;
}

bool selected(const Query& query, std::string_view name) {
  constexpr std::string_view by_name = "metadata.name=";
  const std::string_view fields = query.get("fieldSelector");
  return !fields.starts_with(by_name) || fields.substr(by_name.size()) == name;
}

http::Response ok(std::string body) { return json_response(200, std::move(body)); }

// The changes of a collection after version `seen`.
class Watch final : public http::BodyStream {
 public:
  Watch(FakeCloud& cloud, std::string collection, Query query, std::int64_t seen)
      : cloud_(cloud), collection_(std::move(collection)), query_(std::move(query)), seen_(seen) {}

  asio::awaitable<Result<std::string>> next() override {
    for (;;) {
      if (cancelled_) co_return fail(Errc::cancelled, "watch");
      std::string piece;
      for (const FakeCloud::FakeWatchEvent& event : cloud_.events) {
        if (event.version <= seen_ || !is_in(event.collection, collection_)) continue;
        seen_ = event.version;
        if (!selected(query_, event.name)) continue;
        piece += R"({"type":")";
        piece += event.type;
        piece += R"(","object":)";
        piece += event.object;
        piece += "}\n";
      }
      if (!piece.empty()) co_return piece;
      co_await cloud_.changed.wait();
    }
  }
  void cancel() override {
    cancelled_ = true;
    cloud_.changed.notify_all();
  }

 private:
  FakeCloud& cloud_;
  std::string collection_;
  Query query_;
  std::int64_t seen_;
  bool cancelled_ = false;
};

}  // namespace

void FakeCloud::put(const std::string& collection, const std::string& name, const std::string& body,
                    const std::string& uid) {
  json::object object = sync::wire::parse_json(body).value().as_object();
  json::object metadata;
  if (json::value* given = object.if_contains("metadata")) metadata = given->as_object();
  metadata["name"] = name;
  metadata["uid"] = uid.empty() ? "uid-" + name : uid;
  metadata["resourceVersion"] = std::to_string(++version_);
  const auto words = split(collection, '/');
  const auto space = std::find(words.begin(), words.end(), "namespaces");
  if (space != words.end()) metadata["namespace"] = std::string(*std::next(space));
  object["kind"] = kind_of(collection);
  object["apiVersion"] = api_version_of(collection);
  object["metadata"] = std::move(metadata);
  std::string& kept = collections_[collection][name];
  const std::string type = kept.empty() ? "ADDED" : "MODIFIED";
  kept = sync::wire::serialize(object);
  events.push_back({version_, collection, name, type, kept});
  changed.notify_all();
}

bool FakeCloud::collect_garbage() {
  if (lease_.empty()) return false;
  const json::value lease = sync::wire::parse_json(lease_).value();
  for (const json::value& owner :
       sync::wire::dig_list(lease.as_object(), {"metadata", "ownerReferences"})) {
    const std::string node =
        object("/api/v1/nodes", std::string(sync::wire::dig_text(owner.as_object(), {"name"})));
    if (!node.empty() && sync::wire::read_header(node).value().uid ==
                             sync::wire::dig_text(owner.as_object(), {"uid"})) {
      return false;
    }
  }
  lease_.clear();
  return true;
}

void FakeCloud::remove(const std::string& collection, const std::string& name) {
  auto node = collections_[collection].extract(name);
  CHECK(!node.empty());
  auto last = sync::wire::with_resource_version(node.mapped(), std::to_string(++version_));
  events.push_back({version_, collection, name, "DELETED", last.value()});
  changed.notify_all();
}

http::Response FakeCloud::remove(const std::string& path) {
  const std::string collection = path.substr(0, path.rfind('/'));
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::string resource = collection.substr(collection.rfind('/') + 1);
  if (object(collection, name).empty()) {
    return to_response(sync::wire::status::not_found({"", resource}, name));
  }
  remove(collection, name);
  return ok(events.back().object);
}

int FakeCloud::count(std::string_view start, std::size_t from) const {
  const auto begin = asked.begin() + static_cast<std::ptrdiff_t>(std::min(from, asked.size()));
  return static_cast<int>(std::count_if(begin, asked.end(), [start](const ReceivedRequest& each) {
    return each.what.starts_with(start);
  }));
}

int FakeCloud::count_lists(std::string_view collection, std::size_t from) const {
  const std::string list = "GET " + std::string(collection);
  return count(list, from) - count(list + "/", from) - count(list + "?watch=true", from);
}

http::Response FakeCloud::answer(const http::Request& request) {
  const std::string path(request.path());
  if (path.find("/leases") != std::string::npos) return lease(request);
  const Query query = Query::parse(request.query()).value();
  const bool status = path.ends_with("/status");
  if (status && request.method == http::Method::patch) return patch_status(request);
  if (request.method == http::Method::remove) return remove(path);
  if (request.method != http::Method::get) return ok(request.body.empty() ? "{}" : request.body);
  if (is_got_by_name(path)) {
    return to_response(sync::wire::status::forbidden({"", "things"}, "", "no relationship found"));
  }
  if (kinds.contains(path.substr(path.rfind('/') + 1))) return list(path, query);
  if (path == "/version") return ok(R"({"major":"1"})");
  const std::string collection = path.substr(0, path.rfind('/'));
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto found = collections_.find(collection);
  if (found != collections_.end() && found->second.contains(name)) {
    return ok(found->second.at(name));
  }
  return to_response(sync::wire::status::not_found({"", "things"}, name));
}

std::string FakeCloud::object(const std::string& collection, const std::string& name) const {
  const auto found = collections_.find(collection);
  if (found == collections_.end() || !found->second.contains(name)) return {};
  return found->second.at(name);
}

namespace {

bool is_ipv6(std::string_view address) { return address.find(':') != std::string_view::npos; }

// The error of kube-apiserver for a pod's addresses; "" if they are valid.
std::string wrong_addresses(const json::object& status) {
  const json::value* all = status.if_contains("podIPs");
  if (all == nullptr || all->as_array().empty()) return {};
  std::vector<std::string> ips;
  for (const json::value& each : all->as_array()) {
    ips.emplace_back(each.at("ip").as_string());
  }
  const json::value* first = status.if_contains("podIP");
  if (first == nullptr || first->as_string() != ips[0]) return "podIPs[0]: must equal podIP";
  if (ips.size() > 2) return "podIPs: may specify no more than one IP for each IP family";
  const bool same = ips.size() == 2 && is_ipv6(ips[0]) == is_ipv6(ips[1]);
  return same ? "podIPs: may specify no more than one IP for each IP family" : "";
}

std::string uid_of(const json::value& object) {
  return std::string(object.at("metadata").at("uid").as_string());
}

}  // namespace

http::Response FakeCloud::patch_status(const http::Request& request) {
  std::string path(request.path());
  path.resize(path.size() - std::string_view("/status").size());
  const std::string collection = path.substr(0, path.rfind('/'));
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::string resource = collection.substr(collection.rfind('/') + 1);
  const std::string known = object(collection, name);
  if (known.empty()) return to_response(sync::wire::status::not_found({"", resource}, name));
  const json::value before = sync::wire::parse_json(known).value();
  const auto type = sync::objects::parse_patch_type(request.headers.get("content-type"));
  if (!type) return to_response(sync::wire::status::generic(415));
  auto after = sync::objects::apply_patch(*type, kind_of(collection), before, request.body);
  if (!after) return to_response(after.error());
  if (uid_of(*after) != uid_of(before)) {
    return to_response(
        sync::wire::status::conflict({"", resource}, name, "Precondition failed: UID"));
  }
  if (resource == "pods" && after->as_object().contains("status")) {
    const std::string wrong = wrong_addresses(after->at("status").as_object());
    sync::wire::ApiStatus invalid = sync::wire::status::generic(422);
    invalid.message = wrong;
    if (!wrong.empty()) return to_response(invalid);
  }
  std::string& kept = collections_[collection][name];
  const std::string version = std::to_string(++version_);
  kept = sync::wire::with_resource_version(sync::wire::serialize(*after), version).value();
  events.push_back({version_, collection, name, "MODIFIED", kept});
  changed.notify_all();
  return ok(kept);
}

http::Response FakeCloud::lease(const http::Request& request) {
  if (request.method == http::Method::get) {
    return lease_.empty() ? to_response(sync::wire::status::not_found({"", "leases"}, "x"))
                          : ok(lease_);
  }
  std::string written = request.body;
  const auto expected = sync::wire::text_at(written, {"metadata", "resourceVersion"}).value();
  if (expected.value_or("") != "" && !lease_.empty() &&
      *expected != sync::wire::read_header(lease_).value().resource_version) {
    return to_response(sync::wire::status::generic(409));
  }
  if (request.method == http::Method::patch) {
    if (lease_.empty()) return to_response(sync::wire::status::not_found({"", "leases"}, "x"));
    auto known = sync::wire::parse_json(lease_).value();
    written = sync::wire::serialize(sync::objects::apply_patch(sync::objects::PatchType::merge,
                                                               "Lease", std::move(known), written)
                                        .value());
  }
  renewals.push_back(sync::wire::text_at(written, {"spec", "renewTime"}).value().value_or(""));
  lease_ = sync::wire::with_resource_version(written, std::to_string(++version_)).value();
  return ok(lease_);
}

http::Response FakeCloud::list(const std::string& asked_for, const Query& query) {
  if (query.flag("watch")) {
    const auto seen = parse_int<std::int64_t>(query.get("resourceVersion")).value_or(0);
    if (seen < compacted_) return to_response(sync::wire::status::expired("too old"));
    http::Response response = ok("");
    response.stream = std::make_shared<Watch>(*this, asked_for, query, seen);
    return response;
  }
  const auto from = parse_int<std::size_t>(query.get("continue")).value_or(0);
  const auto limit = parse_int<std::size_t>(query.get("limit")).value_or(0);
  std::string items;
  std::size_t found = 0;
  bool more = false;
  for (const auto& [collection, objects] : collections_) {
    if (!is_in(collection, asked_for)) continue;
    for (const auto& [name, object] : objects) {
      if (!selected(query, name) || found++ < from) continue;
      more = limit > 0 && found > from + limit;
      if (more) break;
      if (!items.empty()) items += ',';
      items += object;
    }
    if (more) break;
  }
  std::string body = R"({"kind":")" + kind_of(asked_for);
  body += R"(List","apiVersion":")" + api_version_of(asked_for);
  body += R"(","metadata":{"resourceVersion":")" + std::to_string(version_);
  if (more) body += R"(","continue":")" + std::to_string(from + limit);
  body += R"("},"items":[)" + items + "]}";
  return ok(std::move(body));
}

FakeApiServer::FakeApiServer(asio::any_io_executor executor, FakeCloud& cloud, const Clock& clock,
                             std::size_t number, std::shared_ptr<const tls::Context> tls)
    : executor_(executor),
      cloud_(cloud),
      clock_(clock),
      number_(number),
      never_(executor),
      server_(executor, {}, [this](const http::Request& request) { return handle(request); }) {
  auto listener = net::Listener::open(executor, {"127.0.0.1", 0}, std::move(tls)).value();
  const net::HostPort behind{"127.0.0.1", listener->port()};
  server_.listen(std::move(listener));
  link = faults::FaultProxy::open(executor, {"127.0.0.1", 0}, behind).value();
}

void FakeApiServer::show(std::shared_ptr<const tls::Context> tls) {
  auto listener = net::Listener::open(executor_, {"127.0.0.1", 0}, std::move(tls)).value();
  const net::HostPort behind{"127.0.0.1", listener->port()};
  server_.listen(std::move(listener));
  CHECK(link->move(link->listen(), behind));
  restore();
}

asio::awaitable<void> FakeApiServer::stop(MonoTime deadline) {
  co_await link->stop();
  co_await server_.stop(deadline);
}

asio::awaitable<http::Response> FakeApiServer::handle(const http::Request& request) {
  const std::string what = std::string(to_string(request.method)) + " " + request.target;
  cloud_.asked.push_back({number_, what, clock_.mono()});
  const bool lease = request.path().find("/leases") != std::string_view::npos;
  if (latency > Duration::zero()) co_await loop::sleep_until(clock_.mono() + latency);
  http::Response response;
  auto answered = special(request);
  if (answered && answered->status == 0) co_await never_.wait();
  if (answered) co_return *std::move(answered);
  if (!instead || (lease && !leases_too)) {
    response = cloud_.answer(request);
  } else if (instead->status == 0) {
    co_await never_.wait();
  } else {
    response = *instead;
  }
  co_return response;
}

}  // namespace holdfast::agent::uplink
