#include "test/unit/agent/edge/chaos/chaos_fixture.h"

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "platform/check.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/wire/read.h"
#include "test/support/answered.h"
#include "test/support/edge_options.h"
#include "test/support/kubeconfig.h"

namespace holdfast::agent::chaos {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

const std::string pods_path = "/api/v1/namespaces/default/pods";
const std::string node_path = "/api/v1/nodes/edge1";
const std::string events_path = "/api/v1/namespaces/default/events";
const std::string merge = "application/strategic-merge-patch+json";

asio::awaitable<void> serve_into(http::Handler handler, http::Request request,
                                 http::Response& answer) {
  answer = co_await handler(request);
}

std::string numbered(std::string_view what, int number) {
  std::string text(what);
  return text += std::to_string(number);
}

}  // namespace

ChaosFixture::ChaosFixture(std::uint64_t seed) : random_(seed) {
  lab::ApiServerOptions cloud;
  cloud.data = scratch_.path() / "cloud";
  cloud.address = "192.0.2.2:6443";
  cloud.controllers = false;
  cloud.event_lifetime = 24h * 365 * 100;
  cloud.compact_after = 24h;
  api_ = lab::ApiServer::open(time_.executor(), time_.clock(), Random(seed + 1), cloud).value();
  serve_ = api_->handler();
  server_ = std::make_unique<http::Server>(
      time_.executor(), http::ServerLimits{},
      [this](const http::Request& request) { return handle(request); });
  auto listener = net::Listener::open(time_.executor(), {"127.0.0.1", 0}, nullptr).value();
  const std::uint16_t behind = listener->port();
  server_->listen(std::move(listener));
  link_ =
      faults::FaultProxy::open(time_.executor(), {"127.0.0.1", 0}, {"127.0.0.1", behind}).value();

  ask_cloud(http::Method::post, "/api/v1/nodes", R"({"metadata":{"name":"edge1"}})");
  for (const char* name : {"a", "b", "c"}) add_pod(name);
  const std::string kubeconfig = test::write_kubeconfig(
      scratch_.path() / "kubeconfig", "http://127.0.0.1:" + std::to_string(link_->port()));
  test::set_up(options_, "edge1", kubeconfig, scratch_.path() / "life-0");
  options_.identity.secure_listen = "";
  options_.kubelet_grace = 0s;
  start_agent();
}

ChaosFixture::~ChaosFixture() {
  if (edge_) stop_agent();
  api_->stop();
  time_.complete(link_->stop());
  time_.complete(server_->stop(time_.clock().mono() + 1s));
  time_.settle();
}

// --------------------------------------------------------------------------------- what there is

void ChaosFixture::start_agent() {
  edge_ = Edge::make(time_.executor(), options_, time_.clock()).value();
  CHECK(edge_->start());
  const net::HostPort at{"127.0.0.1", edge_->port()};
  kubelet_ = std::make_unique<http::Client>(http::Endpoint{at});
  informer_ = std::make_unique<PodInformer>(time_.executor(), at);
  time_.settle();
}

void ChaosFixture::stop_agent() {
  time_.complete(informer_->stop());
  for (const std::string& fault : informer_->faults()) broken(fault);
  informer_.reset();
  kubelet_.reset();
  time_.complete(edge_->stop(time_.clock().mono() + 5s));
  edge_.reset();
}

void ChaosFixture::restart_agent() {
  record_action("restart the agent");
  stop_agent();
  start_agent();
}

// The new agent gets a copy of the files as they are at this moment.
void ChaosFixture::kill_agent() {
  record_action("kill the agent");
  CHECK(link_->set(faults::parse_toxics("refuse").value()));
  const std::string left = options_.data_dir;
  const std::string next = (scratch_.path() / numbered("life-", ++lives_)).string();
  std::filesystem::copy(left, next, std::filesystem::copy_options::recursive);
  stop_agent();
  options_.data_dir = next;
  CHECK(link_->set(faults::parse_toxics(toxics_).value()));
  start_agent();
}

void ChaosFixture::set_link(std::string_view toxics) {
  record_action(toxics.empty() ? "restore the link" : "link: " + std::string(toxics));
  toxics_ = toxics;
  CHECK(link_->set(faults::parse_toxics(toxics).value()));
}

asio::awaitable<http::Response> ChaosFixture::handle(const http::Request& request) {
  http::Response answer = co_await serve_(request);
  const bool lease = request.path().ends_with("/leases/edge1");
  const bool renewal =
      lease && (request.method == http::Method::put || request.method == http::Method::patch);
  if (renewal && answer.status == 200) note_renewal(request);
  co_return answer;
}

void ChaosFixture::note_renewal(const http::Request& request) {
  const json::value body = json::parse(request.body);
  const std::string time(sync::wire::dig_text(body.as_object(), {"spec", "renewTime"}));
  if (time <= renewed_) broken("renewTime " + time + " after " + renewed_);
  renewed_ = time;
}

http::Response ChaosFixture::ask(const http::Request& request) {
  http::Response answer;
  http::Request sent = request;
  sent.headers.set("User-Agent", "kubelet/chaos");
  const MonoTime deadline = time_.clock().mono() + 60s;
  time_.complete(test::answer_into(*kubelet_, std::move(sent), deadline, answer));
  return answer;
}

http::Response ChaosFixture::ask_cloud(http::Method method, const std::string& target,
                                       const std::string& body) {
  http::Request request{.method = method, .target = target, .body = body};
  if (method == http::Method::patch) request.headers.set("Content-Type", merge);
  http::Response answer;
  time_.complete(serve_into(serve_, std::move(request), answer));
  CHECK(answer.status < 500);
  return answer;
}

ChaosFixture::Json ChaosFixture::cloud_object(const std::string& target) {
  return json::parse(ask_cloud(http::Method::get, target, "").body).as_object();
}

void ChaosFixture::record_action(const std::string& action) {
  const auto at = time_.clock().mono().time_since_epoch();
  actions.push_back(format_duration(std::chrono::floor<std::chrono::milliseconds>(at)) + " " +
                    action);
}

std::string ChaosFixture::pick_pod() { return std::string(1, static_cast<char>('a' + pick(3))); }

// ------------------------------------------------------------------------------ what may happen

void ChaosFixture::next() {
  time_.run(std::chrono::milliseconds(random_.below(15'000)));
  api_->tick();
  switch (pick(16)) {
    case 0:
      return set_link("refuse");
    case 1:
      return set_link("black_hole");
    case 2:
    case 3:
      return set_link("");
    case 4:
      return kill_agent();
    case 5:
      return restart_agent();
    case 6:
      return replace_pod();
    case 7:
      return relabel_node();
    case 8:
      return write_node();
    case 9:
      return write_event();
    case 10:
      return jump();
    case 11:
    case 12:
      return read_pods();
    default:
      return write_pod();
  }
}

void ChaosFixture::add_pod(const std::string& name) {
  const json::object pod{
      {"metadata", json::object{{"name", name}}},
      {"spec",
       json::object{{"nodeName", "edge1"},
                    {"containers", json::array{json::object{{"name", "c"}, {"image", "i"}}}}}}};
  ask_cloud(http::Method::post, pods_path, json::serialize(pod));
}

// The cloud deletes a pod and creates another one with the same name.
void ChaosFixture::replace_pod() {
  const std::string name = pick_pod();
  record_action("replace pod " + name);
  ask_cloud(http::Method::remove, pods_path + "/" + name,
            R"({"gracePeriodSeconds":0,"kind":"DeleteOptions","apiVersion":"v1"})");
  add_pod(name);
}

void ChaosFixture::relabel_node() {
  label_ = numbered("l", ++written_);
  record_action("label the node " + label_);
  const json::object patch{{"metadata", json::object{{"labels", json::object{{"cloud", label_}}}}}};
  ask_cloud(http::Method::patch, node_path, json::serialize(patch));
}

namespace {

void note(AcknowledgedWrites& promise, int status, const std::string& value) {
  if (status == 200 || status == 201) {
    promise = {value, {}};
  } else {
    promise.maybe.insert(value);
  }
}

bool kept(const AcknowledgedWrites& promise, std::string_view value) {
  return value == promise.accepted || promise.maybe.contains(std::string(value));
}

}  // namespace

void ChaosFixture::write_pod() {
  const std::string name = pick_pod();
  const http::Response read = ask({.target = pods_path + "/" + name});
  if (read.status != 200) return record_action("cannot read pod " + name);
  const json::object pod = json::parse(read.body).as_object();
  const std::string uid(sync::wire::uid_of(pod));
  const std::string message = numbered("m", ++written_);
  const json::object patch{{"metadata", json::object{{"uid", uid}}},
                           {"status", json::object{{"message", message}}}};
  http::Request request{.method = http::Method::patch,
                        .target = pods_path + "/" + name + "/status",
                        .headers = {{"Content-Type", merge}},
                        .body = json::serialize(patch)};
  const int status = ask(request).status;
  record_action("pod " + name + " " + message + " -> " + std::to_string(status));
  note(pods_[uid], status, message);
}

void ChaosFixture::write_node() {
  const std::string reason = numbered("r", ++written_);
  const json::object ready{{"type", "Ready"}, {"status", "True"}, {"reason", reason}};
  const json::object patch{{"status", json::object{{"conditions", json::array{ready}}}}};
  http::Request request{.method = http::Method::patch,
                        .target = node_path + "/status",
                        .headers = {{"Content-Type", merge}},
                        .body = json::serialize(patch)};
  const int status = ask(request).status;
  record_action("node " + reason + " -> " + std::to_string(status));
  note(node_, status, reason);
}

void ChaosFixture::write_event() {
  const std::string name = numbered("e", ++written_);
  const json::object event{
      {"metadata", json::object{{"name", name}, {"namespace", "default"}}},
      {"involvedObject", json::object{{"kind", "Pod"}, {"namespace", "default"}, {"name", "a"}}},
      {"reason", "Chaos"},
      {"type", "Normal"}};
  http::Request request{.method = http::Method::post,
                        .target = events_path,
                        .headers = {{"Content-Type", "application/json"}},
                        .body = json::serialize(event)};
  const int status = ask(request).status;
  record_action("event " + name + " -> " + std::to_string(status));
  events_[name] = status == 201;
}

void ChaosFixture::read_pods() {
  const http::Response answer =
      ask({.target = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1&resourceVersion=0"});
  record_action("list pods -> " + std::to_string(answer.status));
  if (answer.status == 404) broken("the list of pods is not found");
  if (answer.status != 200) {
    if (listed_) broken("the list of pods is forgotten: " + std::to_string(answer.status));
    return;
  }
  listed_ = true;
  if (json::parse(answer.body).at("items").as_array().size() < 2) broken("pods are missing");
}

void ChaosFixture::jump() {
  const Duration by = (pick(2) == 0 ? 1 : -1) * 24h * 365;
  record_action(by > 0s ? "the calendar: a year on" : "the calendar: a year back");
  time_.clock().jump_wall(by);
}

// --------------------------------------------------------------------------- what must be true

std::int64_t ChaosFixture::waiting() {
  return edge_->offline_store().size().value().entries;
}

void ChaosFixture::converge() {
  set_link("");
  const auto together = [this] {
    api_->tick();
    return edge_->uplink().link().state() == sync::autonomy::LinkState::connected && waiting() == 0;
  };
  if (!time_.run_until(10min, together)) broken("not connected with an empty outbox in 10 min");
  time_.run(2min);
  check_pods();
  check_node();
  check_events();
  check_informer();
}

void ChaosFixture::check_pods() {
  for (const char* name : {"a", "b", "c"}) {
    const json::object pod = cloud_object(pods_path + "/" + name);
    const std::string message(sync::wire::dig_text(pod, {"status", "message"}));
    const AcknowledgedWrites& promise = pods_[std::string(sync::wire::uid_of(pod))];
    if (!kept(promise, message)) {
      broken("pod " + std::string(name) + ": \"" + message + "\", accepted \"" + promise.accepted +
             "\"");
    }
    const http::Response local = ask({.target = pods_path + "/" + name});
    if (local.status != 200 || json::parse(local.body) != json::value(pod)) {
      broken("pod " + std::string(name) + " is not here what it is there");
    }
  }
}

void ChaosFixture::check_node() {
  const json::object node = cloud_object(node_path);
  std::string reason;
  for (const json::value& condition : sync::wire::dig_list(node, {"status", "conditions"})) {
    const json::object& fields = condition.as_object();
    if (sync::wire::dig_text(fields, {"type"}) == "Ready")
      reason = sync::wire::dig_text(fields, {"reason"});
  }
  if (!kept(node_, reason)) {
    broken("node: \"" + reason + "\", accepted \"" + node_.accepted + "\"");
  }
  const std::string_view label = sync::wire::dig_text(node, {"metadata", "labels", "cloud"});
  if (label != label_) broken("the cloud's label is lost");
}

// If the wall clock was set forward before the agent started, its waiting writes look a year old
// and expire.
bool ChaosFixture::was_told_expired(const std::string& event) {
  const auto rows = edge_->offline_store().records({.limit = 100'000}).value();
  return std::any_of(rows.begin(), rows.end(), [&event](const store::Record& row) {
    return row.kind == "write-expired" && row.subject == "events/default/" + event;
  });
}

void ChaosFixture::check_events() {
  for (const auto& [name, certain] : events_) {
    if (!certain) continue;
    const int status = ask_cloud(http::Method::get, events_path + "/" + name, "").status;
    if (status != 200 && !was_told_expired(name)) broken("event " + name + " is lost");
  }
}

// Checks that the informer knows the same pods as the cloud.
void ChaosFixture::check_informer() {
  std::map<std::string, std::string> there;
  for (const char* name : {"a", "b", "c"}) {
    const json::object pod = cloud_object(pods_path + "/" + name);
    std::string seen(sync::wire::uid_of(pod));
    seen += ' ';
    seen += sync::wire::dig_text(pod, {"status", "message"});
    there[name] = std::move(seen);
  }
  if (informer_->pods() != there) broken("the informer has not come to what the cloud has");
}

}  // namespace holdfast::agent::chaos
