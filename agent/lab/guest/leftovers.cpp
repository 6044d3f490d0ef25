#include "agent/lab/guest/leftovers.h"

#include <map>

#include "platform/loop/timer.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab::guest {
namespace {

using namespace std::chrono_literals;
namespace json = sync::json;

constexpr Duration call_limit = 10s;
constexpr Duration spaces_end_limit = 90s;
constexpr Duration spaces_poll = 500ms;
constexpr const char* namespaces_path = "/api/v1/namespaces";
constexpr const char* nodes_path = "/api/v1/nodes";
constexpr const char* requests_path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
// Namespaces are the first, so that nothing new is created in them.
constexpr const char* cluster_collections[] = {
    namespaces_path, nodes_path, "/apis/scheduling.k8s.io/v1/priorityclasses", requests_path};

struct Marked {
  std::string name;
  std::string run;
  std::string owner;
};

class Remover {
 public:
  Remover(ApiClient& client, const Clock& clock) : client_(client), clock_(clock) {}

  // The objects of a collection as JSON. A kind that the server does not have, has none.
  asio::awaitable<Result<std::vector<json::object>>> list(std::string target) {
    std::vector<json::object> objects;
    ApiRequest request{.target = std::move(target)};
    const auto body = co_await client_.call(std::move(request), clock_.mono() + call_limit);
    if (!body && body.error().code == Errc::not_found) co_return objects;
    if (!body) co_return fail(body.error());
    CO_TRY(const auto list, sync::wire::split_list(*body));
    for (const auto& item : list.items) {
      CO_TRY(json::value value, sync::wire::parse_json(item));
      if (value.is_object()) objects.push_back(std::move(value.get_object()));
    }
    co_return objects;
  }

  // Those of all runs, or of one.
  asio::awaitable<Result<std::vector<Marked>>> marked(std::string collection, std::string run) {
    std::string target = collection + "?labelSelector=holdfast.dev%2Flab-run";
    if (!run.empty()) target += "%3D" + run;
    std::vector<Marked> found;
    CO_TRY(const auto objects, co_await list(std::move(target)));
    for (const json::object& object : objects) {
      const auto text = [&object](std::string_view map, std::string_view key) {
        return std::string(sync::wire::dig_text(object, {"metadata", map, key}));
      };
      Marked each{.name = std::string(sync::wire::name_of(object)),
                  .run = text("labels", run_label),
                  .owner = text("annotations", owner_annotation)};
      if (each.owner.empty() || !each.name.starts_with(each.run + "-")) continue;
      found.push_back(std::move(each));
    }
    co_return found;
  }

  asio::awaitable<Status> remove(std::string target) {
    ApiRequest request{.method = http::Method::remove, .target = std::move(target)};
    const auto done = co_await client_.call(std::move(request), clock_.mono() + call_limit);
    Status removed;
    // A namespace that is being deleted answers with a conflict.
    if (!done && done.error().code != Errc::not_found && done.error().code != Errc::conflict) {
      removed = fail(done.error());
    }
    co_return removed;
  }

  // Nothing confirms the end of the pods: their nodes are gone.
  asio::awaitable<Status> remove_pods(std::string space) {
    const std::string path = std::string(namespaces_path) + "/" + space + "/pods";
    CO_TRY(const auto pods, co_await list(path));
    Status removed;
    for (const json::object& pod : pods) {
      std::string target = path + "/" + std::string(sync::wire::name_of(pod));
      removed = co_await remove(target + "?gracePeriodSeconds=0");
      if (!removed) co_return removed;
    }
    co_return removed;
  }

  asio::awaitable<Status> remove_spaces(std::string run) {
    const MonoTime limit = clock_.mono() + spaces_end_limit;
    Status removed;
    for (;;) {
      CO_TRY(const auto spaces, co_await marked(namespaces_path, run));
      if (spaces.empty()) co_return removed;
      for (const Marked& space : spaces) {
        removed = co_await remove(std::string(namespaces_path) + "/" + space.name);
        if (removed) removed = co_await remove_pods(space.name);
        if (!removed) co_return fail("remove namespace " + space.name, removed.error());
      }
      if (clock_.mono() > limit) {
        co_return fail(Errc::timeout, "namespace " + spaces.front().name +
                                          " is still being deleted after " +
                                          format_duration(spaces_end_limit));
      }
      co_await loop::wait_for(spaces_poll);
    }
  }

  // The lease, and what controllers have said about the node.
  asio::awaitable<Status> remove_belongings(std::string node) {
    Status removed =
        co_await remove("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/" + node);
    const std::string path = "/api/v1/namespaces/default/events";
    CO_TRY(const auto events, co_await list(path + "?fieldSelector=involvedObject.kind%3DNode%2C" +
                                            "involvedObject.name%3D" + node));
    for (const json::object& event : events) {
      if (sync::wire::dig_text(event, {"involvedObject", "name"}) != node) continue;
      if (!removed) co_return removed;
      removed = co_await remove(path + "/" + std::string(sync::wire::name_of(event)));
    }
    co_return removed;
  }

  // Those that the run's nodes have made themselves.
  asio::awaitable<Status> remove_requests_of_nodes(std::string run) {
    CO_TRY(const auto requests, co_await list(requests_path));
    Status removed;
    for (const json::object& request : requests) {
      const auto user = sync::wire::dig_text(request, {"spec", "username"});
      if (!user.starts_with("system:node:" + run + "-")) continue;
      std::string target = std::string(requests_path) + "/";
      target += sync::wire::name_of(request);
      removed = co_await remove(std::move(target));
      if (!removed) co_return removed;
    }
    co_return removed;
  }

  asio::awaitable<Status> remove_cluster_scoped(std::string collection, std::string run) {
    CO_TRY(const auto objects, co_await marked(collection, run));
    Status removed;
    for (const Marked& each : objects) {
      // The node is the last, because it is what the others are found by.
      if (collection == nodes_path) removed = co_await remove_belongings(each.name);
      if (removed) removed = co_await remove(collection + "/" + each.name);
      if (!removed) co_return fail("remove " + each.name, removed.error());
    }
    co_return removed;
  }

 private:
  ApiClient& client_;
  const Clock& clock_;
};

}  // namespace

asio::awaitable<Result<std::vector<FoundRun>>> find_runs(ApiClient& client, const Clock& clock) {
  Remover remover(client, clock);
  std::map<std::string, std::string> owners;
  for (const char* collection : cluster_collections) {
    CO_TRY(const auto objects, co_await remover.marked(collection, ""));
    for (const Marked& each : objects) owners.try_emplace(each.run, each.owner);
  }
  std::vector<FoundRun> runs;
  for (const auto& [run, owner] : owners) {
    auto read = Owner::read(owner);
    if (read) runs.push_back({run, *std::move(read)});
  }
  co_return runs;
}

asio::awaitable<Status> remove_run(ApiClient& client, const Clock& clock, std::string run) {
  Remover remover(client, clock);
  Status removed = co_await remover.remove_spaces(run);
  if (removed) removed = co_await remover.remove_requests_of_nodes(run);
  for (const char* collection : cluster_collections) {
    if (!removed) co_return fail("clean up " + run, removed.error());
    if (std::string_view(collection) == namespaces_path) continue;
    removed = co_await remover.remove_cluster_scoped(collection, run);
  }
  if (!removed) co_return fail("clean up " + run, removed.error());
  co_return removed;
}

}  // namespace holdfast::agent::lab::guest
