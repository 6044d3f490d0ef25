#include "agent/lab/demo/demo_processes.h"

#include <unistd.h>

#include "platform/check.h"
#include "platform/fs/file.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/schedule/resources.h"
#include "sync/wire/codec.h"

namespace holdfast::agent::demo {
namespace {

using namespace std::chrono_literals;
using agent::ApiRequest;

constexpr Duration start_limit = 15s;
constexpr Duration request_limit = 5s;
constexpr Duration end_limit = 7s;

std::filesystem::path own_folder() {
  std::error_code ec;
  return std::filesystem::read_symlink("/proc/self/exe", ec).parent_path();
}

net::HostPort any_port() { return {"127.0.0.1", 0}; }

// "127.0.0.1:41234" or "41234".
Result<std::uint16_t> read_port(const std::string& text) {
  const auto port = parse_int<std::uint16_t>(text.substr(text.rfind(':') + 1));
  if (!port) return fail(Errc::invalid, "no port: " + text);
  return *port;
}

std::string local(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

// The name of a node's holdfast-node among the children. Its holdfast-edge has the node's name.
std::string node_agent_of(const std::string& node) { return node + "-node"; }

}  // namespace

DemoProcesses::DemoProcesses(asio::any_io_executor executor, std::filesystem::path data,
                             DemoSetup setup, const Clock& clock, Recorder& recorder)
    : executor_(executor),
      data_(std::move(data)),
      setup_(std::move(setup)),
      tokens_(lab::cluster::Tokens::make(setup_.nodes())),
      clock_(clock),
      recorder_(recorder),
      children_(own_folder(), data_, clock_),
      sites_(executor, clock),
      watch_tasks_(std::move(executor)) {}

asio::awaitable<Result<std::uint16_t>> DemoProcesses::port_of(std::string child,
                                                              std::string message,
                                                              std::string field) {
  const auto text = co_await children_.logged(std::move(child), std::move(message),
                                              std::move(field), clock_.mono() + start_limit);
  if (!text) co_return fail(text.error());
  co_return read_port(*text);
}

asio::awaitable<Status> DemoProcesses::start_control_plane() {
  const auto tokens = data_ / "tokens";
  if (auto written = fs::atomic_write(tokens, tokens_.file()); !written) co_return written;
  std::vector<std::string> server = {
      "apiserver",          "--listen=127.0.0.1:0",
      "--controllers=true", "--data=" + (data_ / "apiserver").string(),
      "--scheduler=false",  "--token-file=" + tokens.string()};
  CO_TRY([[maybe_unused]] const auto first,
         children_.start("apiserver", "holdfast-lab", std::move(server)));
  auto port = co_await port_of("apiserver", "apiserver listening", "address");
  if (!port) co_return fail("API server", port.error());
  server_port_ = *port;
  CO_TRY(client_, local_client(server_port_, clock_, "holdfast-demo", tokens_.admin));
  const auto file = data_ / "cloud.kubeconfig";
  const Status written =
      fs::atomic_write(file, lab::cluster::kubeconfig(server_port_, tokens_.admin));
  if (!written) co_return written;
  auto cloud = as_arguments(cloud_constants());
  cloud.push_back("--kubeconfig=" + file.string());
  cloud.emplace_back("--controllers=*,scheduler");
  cloud.emplace_back("--scheduler-name=default-scheduler");
  CO_TRY([[maybe_unused]] const auto second,
         children_.start("cloud", "holdfast-cloud", std::move(cloud)));
  // holdfast-cloud logs this once it has received everything and acts.
  auto started =
      co_await children_.logged("cloud", "started", "nodes", clock_.mono() + start_limit);
  if (!started) co_return fail("cloud controller", started.error());
  Status done;
  co_return done;
}

asio::awaitable<Status> DemoProcesses::start_agents() {
  for (const std::string& node : setup_.nodes()) {
    const net::HostPort server{"127.0.0.1", server_port_};
    CO_TRY(auto link, agent::faults::FaultProxy::open(executor_, any_port(), server));
    const auto file = data_ / (node + ".kubeconfig");
    const Status written =
        fs::atomic_write(file, lab::cluster::kubeconfig(link->port(), tokens_.nodes.at(node)));
    if (!written) co_return written;
    links_[node] = std::move(link);
    endpoints_[node] = {
        .node = node, .data = data_ / node, .node_data = data_ / node_agent_of(node)};
    cut(node);
    Status started = co_await start_agent(node);
    if (!started) co_return started;
  }
  Status done;
  co_return done;
}

asio::awaitable<Status> DemoProcesses::start_agent(std::string node) {
  AgentEndpoints& endpoints = endpoints_.at(node);
  auto arguments = as_arguments(edge_constants());
  const auto more = {"--node-name=" + node,
                     "--kubeconfig=" + (data_ / (node + ".kubeconfig")).string(),
                     "--data-dir=" + endpoints.data.string(),
                     "--listen=" + local(endpoints.proxy_port),
                     "--admin-listen=" + local(endpoints.admin_port),
                     "--allowed-uids=" + std::to_string(getuid())};
  arguments.insert(arguments.end(), more);
  CO_TRY([[maybe_unused]] const auto identity,
         children_.start(node, "holdfast-edge", std::move(arguments)));
  auto proxy = co_await port_of(node, " serving ", "proxy_port");
  if (!proxy) co_return fail(node, proxy.error());
  auto admin = co_await port_of(node, " serving ", "admin_port");
  if (!admin) co_return fail(node, admin.error());
  endpoints.proxy_port = *proxy;
  endpoints.admin_port = *admin;
  Status done;
  if (auto started = start_node_agent(endpoints); !started) done = fail(started.error());
  co_return done;
}

Status DemoProcesses::start_node_agent(const AgentEndpoints& endpoints) {
  auto arguments = as_arguments(node_constants());
  const auto more = {"--node-name=" + endpoints.node,
                     "--server=http://" + local(endpoints.proxy_port),
                     "--data-dir=" + endpoints.node_data.string()};
  arguments.insert(arguments.end(), more);
  TRY([[maybe_unused]] const auto identity,
      children_.start(node_agent_of(endpoints.node), "holdfast-node", std::move(arguments)));
  return {};
}

void DemoProcesses::kill_agent(const std::string& node) {
  children_.kill(node);
  children_.kill(node_agent_of(node));
}

asio::awaitable<Status> DemoProcesses::post_workloads() { return post(manifests(setup_.replicas)); }

asio::awaitable<Status> DemoProcesses::delete_workloads() {
  return remove(manifests(setup_.replicas));
}

asio::awaitable<Status> DemoProcesses::post(std::vector<Manifest> objects) {
  for (const Manifest& object : objects) {
    ApiRequest request{
        .method = http::Method::post, .target = object.collection, .body = object.body};
    const auto made = co_await client_->call(std::move(request), clock_.mono() + request_limit);
    if (!made) co_return fail("create " + object.name, made.error());
  }
  Status done;
  co_return done;
}

asio::awaitable<Status> DemoProcesses::remove(std::vector<Manifest> objects) {
  for (const Manifest& object : objects) {
    ApiRequest request{.method = http::Method::remove,
                       .target = object.collection + "/" + object.name};
    const auto made = co_await client_->call(std::move(request), clock_.mono() + request_limit);
    if (!made) co_return fail("delete " + object.name, made.error());
  }
  Status done;
  co_return done;
}

asio::awaitable<Status> DemoProcesses::cordon(std::string node, bool on) {
  ApiRequest request{
      .method = http::Method::patch,
      .target = "/api/v1/nodes/" + node,
      .body = on ? R"({"spec":{"unschedulable":true}})" : R"({"spec":{"unschedulable":null}})",
      .content_type = "application/merge-patch+json"};
  const auto patched = co_await client_->call(std::move(request), clock_.mono() + request_limit);
  Status done;
  if (!patched) co_return fail("cordon " + node, patched.error());
  co_return done;
}

asio::awaitable<Result<std::int64_t>> DemoProcesses::milli_cpu(std::string node) {
  ApiRequest request{.target = "/api/v1/nodes/" + node};
  const auto body = co_await client_->call(std::move(request), clock_.mono() + request_limit);
  if (!body) co_return fail("read " + node, body.error());
  const auto read = sync::wire::decode_bytes<sync::Node>(*body);
  if (!read) co_return fail("read " + node, read.error());
  sync::schedule::Symbols symbols;
  const auto room = sync::schedule::read_resources(read->status.allocatable, symbols);
  if (!room) co_return fail("read " + node, room.error());
  co_return room->milli_cpu;
}

asio::awaitable<Status> DemoProcesses::remove_agents() {
  for (const std::string& node : setup_.nodes()) {
    // The node agent is stopped first, because it would register the node again.
    const std::vector<std::string> programs{node_agent_of(node), node};
    for (const std::string& child : programs) {
      Status ended = co_await children_.end(child, clock_.mono() + end_limit);
      if (!ended) co_return ended;
    }
    ApiRequest request{.method = http::Method::remove, .target = "/api/v1/nodes/" + node};
    const auto removed = co_await client_->call(std::move(request), clock_.mono() + request_limit);
    if (!removed) co_return fail("delete node " + node, removed.error());
  }
  Status done;
  co_return done;
}

asio::awaitable<Status> DemoProcesses::make_autonomous(std::string node) {
  ApiRequest request{
      .method = http::Method::patch,
      .target = "/api/v1/nodes/" + node,
      .body = R"({"metadata":{"annotations":{"node.beta.openyurt.io/autonomy":"true"}}})",
      .content_type = "application/merge-patch+json"};
  const auto patched = co_await client_->call(std::move(request), clock_.mono() + request_limit);
  Status done;
  if (!patched) co_return fail("annotate " + node, patched.error());
  co_return done;
}

void DemoProcesses::cut(const std::string& node) {
  CHECK(links_.at(node)->set({agent::faults::cut_cable()}));
}

void DemoProcesses::restore(const std::string& node) {
  first_contact_ = true;
  CHECK(links_.at(node)->set({}));
}

bool DemoProcesses::is_cut(const std::string& node) const {
  return !links_.at(node)->toxics().empty();
}

Result<std::int64_t> DemoProcesses::memory(const std::string& node) const {
  const std::string file = "/proc/" + std::to_string(children_.pid(node)) + "/smaps_rollup";
  TRY(const std::string text, fs::read_all(file, 64 * 1024));
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with("Pss:")) continue;
    const std::string_view rest = trim(line.substr(4));
    const auto kib = parse_int<std::int64_t>(rest.substr(0, rest.find(' ')));
    if (kib) return *kib;
  }
  return fail(Errc::not_found, file + " has no Pss");
}

void DemoProcesses::watch() {
  watch_tasks_.spawn("nodes", watch_nodes(*client_, recorder_));
  watch_tasks_.spawn("pods", watch_pods(*client_, recorder_));
  watch_tasks_.spawn("leases", watch_leases(*client_, recorder_));
  watch_tasks_.spawn("deployment", watch_deployment(*client_, recorder_));
  for (const auto& [node, endpoints] : endpoints_) {
    watch_tasks_.spawn("link", watch_link(endpoints, recorder_));
    watch_tasks_.spawn("processes", watch_processes(endpoints, recorder_));
    watch_tasks_.spawn("pods through", watch_through(endpoints, "/api/v1/pods",
                                                     "spec.nodeName=" + node, recorder_));
    watch_tasks_.spawn("node through", watch_through(endpoints, "/api/v1/nodes",
                                                     "metadata.name=" + node, recorder_));
    // One list for the time before the first contact, another one for the outage, because an agent
    // fetches a requested list as soon as it can.
    UnavailableLists unavailable{
        .pods = [this] { return !first_contact_; },
        .nothing =
            [this, name = node] {
              if (!is_cut(name)) return std::string();
              return std::string(first_contact_ ? "/apis/node.k8s.io/v1/runtimeclasses"
                                                : "/apis/storage.k8s.io/v1/csidrivers");
            },
    };
    watch_tasks_.spawn("lists", ask_for_lists(endpoints, std::move(unavailable), recorder_));
  }
}

asio::awaitable<void> DemoProcesses::stop_watching() {
  watch_tasks_.cancel();
  co_await watch_tasks_.join();
}

asio::awaitable<std::vector<int>> DemoProcesses::end() {
  auto left = co_await children_.end_all(clock_.mono() + end_limit);
  for (const auto& [node, link] : links_) co_await link->stop();
  co_await sites_.close();
  co_return left;
}

}  // namespace holdfast::agent::demo
