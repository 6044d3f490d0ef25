// The watchers of an agent: its admin endpoint, its processes, and its proxy as seen by a client.

#include <algorithm>
#include <set>

#include "agent/client/list_watch.h"
#include "agent/lab/demo/watchers.h"
#include "agent/node/process/attempt_files.h"
#include "platform/loop/randomness.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/wire/json.h"
#include "sync/wire/list_bytes.h"

namespace holdfast::agent::demo {
namespace {

using namespace std::chrono_literals;
namespace json = sync::json;
using agent::ApiClient;
using agent::ApiRequest;

constexpr Duration agent_poll = 100ms;
constexpr Duration admin_limit = 1s;
constexpr Duration list_limit = 8s;
constexpr const char* node_client = "kubelet/demo";  // as user agent: an agent caches for kubelets

// The value at `path`; null if any part of it is missing.
json::value dig(const json::value& from, std::initializer_list<std::string_view> path) {
  const json::value* at = &from;
  for (const std::string_view name : path) {
    const json::object* object = at->if_object();
    at = object != nullptr ? object->if_contains(name) : nullptr;
    if (at == nullptr) return nullptr;
  }
  return *at;
}

std::string text_of(const json::value& value) {
  const json::string* text = value.if_string();
  return text != nullptr ? std::string(*text) : std::string();
}

std::int64_t number_of(const json::value& value) {
  boost::system::error_code ec;
  const auto number = value.to_number<std::int64_t>(ec);
  return ec ? -1 : number;
}

// The number of items of a list; -1 if the body is not a list.
std::int64_t items_of(const std::string& body) {
  const auto list = sync::wire::split_list(body);
  return list ? static_cast<std::int64_t>(list->items.size()) : -1;
}

std::vector<ProcessSeen> alive_in(const AgentEndpoints& endpoints) {
  std::vector<ProcessSeen> alive;
  const fs::Path pods = endpoints.node_data / "pods";
  std::error_code ec;
  for (const auto& uid : fs::list_dir(pods).value_or(std::vector<std::string>())) {
    const fs::Path attempts = pods / uid / "main";
    for (const auto& number : fs::list_dir(attempts).value_or(std::vector<std::string>())) {
      const auto run = node::read_run(attempts / number);
      if (!run || !proc::is_alive(run->process)) continue;
      alive.push_back({.uid = uid,
                       .node = endpoints.node,
                       .pid = run->process.pid,
                       .start_ticks = run->process.start_ticks});
    }
  }
  return alive;
}

// Passes a watch stream on and records the 410 errors in it.
class RecordingStream final : public http::BodyStream {
 public:
  RecordingStream(std::shared_ptr<http::BodyStream> stream, std::string client, Recorder& recorder)
      : stream_(std::move(stream)), client_(std::move(client)), recorder_(recorder) {}

  asio::awaitable<Result<std::string>> next() override {
    auto piece = co_await stream_->next();
    const bool gone = piece && piece->find(R"("type":"ERROR")") != piece->npos &&
                      piece->find(R"("code":410)") != piece->npos;
    if (gone) recorder_.history().gone_410.push_back(client_);
    co_return piece;
  }
  void cancel() override { stream_->cancel(); }

 private:
  std::shared_ptr<http::BodyStream> stream_;
  std::string client_;
  Recorder& recorder_;
};

// Records what a client receives. The reflector that uses it lists again after a 410.
class Counter final : public agent::ListWatchSink, public agent::ListWatchSource {
 public:
  Counter(std::string name, ApiClient& client, Recorder& recorder)
      : name_(std::move(name)), client_(client), recorder_(recorder) {}

  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override {
    auto response =
        co_await client_.send(std::move(request), streamed, recorder_.clock().mono() + list_limit);
    if (response && response->status == 410) recorder_.history().gone_410.push_back(name_);
    if (response && response->stream) {
      response->stream =
          std::make_shared<RecordingStream>(std::move(response->stream), name_, recorder_);
    }
    co_return response;
  }
  void replace(std::vector<std::string> /*items*/, const std::string& version,
               const sync::wire::ScopeKind& /*kind*/) override {
    note(version, true);
  }
  void apply(const sync::wire::WatchEvent& event) override { note(event.resource_version, false); }
  void bookmark(const std::string& version) override { note(version, false); }

 private:
  void note(const std::string& version, bool relisted) {
    const auto number = parse_int<std::uint64_t>(version);
    recorder_.history().versions.push_back({recorder_.now(), name_, relisted, number.value_or(0)});
  }

  std::string name_;
  ApiClient& client_;
  Recorder& recorder_;
};

std::set<std::string> pods_alive(const AgentEndpoints& endpoints) {
  std::set<std::string> uids;
  for (const ProcessSeen& process : alive_in(endpoints)) uids.insert(process.uid);
  return uids;
}

// The number of pods that ran before and still run: the agent knew them in between.
std::int64_t known_throughout(const std::set<std::string>& before,
                              const AgentEndpoints& endpoints) {
  const auto after = pods_alive(endpoints);
  return std::count_if(before.begin(), before.end(),
                       [&after](const std::string& uid) { return after.contains(uid); });
}

asio::awaitable<AnswerSeen> ask(ApiClient& client, const AgentEndpoints& endpoints,
                                std::string path, Recorder& recorder) {
  AnswerSeen seen{.asked = recorder.now(), .node = endpoints.node, .path = std::move(path)};
  const auto before = pods_alive(endpoints);
  ApiRequest request{.target = seen.path};
  const auto response =
      co_await client.send(std::move(request), false, recorder.clock().mono() + list_limit);
  seen.at = recorder.now();
  seen.known = known_throughout(before, endpoints);
  if (response) {
    seen.status = response->status;
    seen.items = items_of(response->body);
  }
  co_return seen;
}

}  // namespace

asio::awaitable<void> watch_link(AgentEndpoints endpoints, Recorder& recorder) {
  const Clock& clock = recorder.clock();
  const auto client = local_client(endpoints.admin_port, clock, "holdfast-demo");
  for (;;) {
    ApiRequest request{.target = "/v1/status"};
    const auto body = co_await (*client)->call(std::move(request), clock.mono() + admin_limit);
    const auto status = body ? sync::wire::parse_json(*body) : Result<json::value>(nullptr);
    LinkSeen seen{.node = endpoints.node, .state = "down", .outbox = -1};
    if (status && status->is_object()) {
      seen.state = text_of(dig(*status, {"link", "state"}));
      seen.outbox = number_of(dig(*status, {"outbox", "entries"}));
    }
    recorder.note(std::move(seen));
    co_await loop::wait_for(agent_poll);
  }
}

asio::awaitable<void> watch_processes(AgentEndpoints endpoints, Recorder& recorder) {
  for (;;) {
    recorder.record_processes(endpoints.node, alive_in(endpoints));
    co_await loop::wait_for(agent_poll);
  }
}

asio::awaitable<void> watch_through(AgentEndpoints endpoints, std::string path,
                                    std::string selector, Recorder& recorder) {
  const Clock& clock = recorder.clock();
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  Random random = loop::make_random(executor);
  const auto client = local_client(endpoints.proxy_port, clock, node_client);
  Counter counter(endpoints.node + " " + path, **client, recorder);
  agent::ListWatchTarget target{.path = std::move(path), .field_selector = std::move(selector)};
  target.reflector.backoff = {.initial = 200ms, .most = 1s};
  co_await agent::run_list_watch(std::move(target), counter, counter, clock, random);
}

asio::awaitable<void> ask_for_lists(AgentEndpoints endpoints, UnavailableLists unavailable,
                                    Recorder& recorder) {
  const Clock& clock = recorder.clock();
  const auto client = local_client(endpoints.proxy_port, clock, node_client);
  const std::string own_pods =
      "/api/v1/pods?resourceVersion=0&fieldSelector=spec.nodeName%3D" + endpoints.node;
  for (;;) {
    // If the agent's state changed during the request, the answer cannot be judged and is dropped.
    const bool pods_unknown = unavailable.pods();
    AnswerSeen pods = co_await ask(**client, endpoints, own_pods, recorder);
    pods.incomplete = pods_unknown;
    if (pods_unknown == unavailable.pods()) recorder.history().answers.push_back(std::move(pods));
    const std::string path = unavailable.nothing();
    if (!path.empty()) {
      AnswerSeen never = co_await ask(**client, endpoints, path, recorder);
      never.incomplete = true;
      if (path == unavailable.nothing()) recorder.history().answers.push_back(std::move(never));
    }
    co_await loop::wait_for(3 * agent_poll);
  }
}

asio::awaitable<Status> read_journal(AgentEndpoints endpoints, Recorder& recorder) {
  const Clock& clock = recorder.clock();
  const auto client = local_client(endpoints.admin_port, clock, "holdfast-demo");
  ApiRequest request{.target = "/v1/journal?limit=10000"};
  const auto body = co_await (*client)->call(std::move(request), clock.mono() + list_limit);
  if (!body) co_return fail("journal of " + endpoints.node, body.error());
  CO_TRY(const json::value rows, sync::wire::parse_json(*body));
  Status done;
  if (!rows.is_array()) co_return fail(Errc::invalid, "the journal is not a list");
  for (const json::value& row : rows.get_array()) {
    recorder.history().journal.push_back({.node = endpoints.node,
                                          .seq = number_of(dig(row, {"seq"})),
                                          .kind = text_of(dig(row, {"kind"})),
                                          .subject = text_of(dig(row, {"subject"})),
                                          .what = text_of(dig(row, {"what"})),
                                          .entry = number_of(dig(row, {"entry"}))});
  }
  co_return done;
}

}  // namespace holdfast::agent::demo
