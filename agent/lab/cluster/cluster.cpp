#include "agent/lab/cluster/cluster.h"

#include <algorithm>

#include "agent/lab/cluster/node_object.h"
#include "platform/fs/file.h"
#include "platform/loop/timer.h"

namespace holdfast::agent::lab::cluster {
namespace {

constexpr Duration end_limit = std::chrono::seconds(7);
constexpr Duration reap_interval = std::chrono::milliseconds(100);

std::filesystem::path own_folder() {
  std::error_code ec;
  return std::filesystem::read_symlink("/proc/self/exe", ec).parent_path();
}

std::vector<std::string> all_nodes(const std::vector<Site>& sites) {
  std::vector<std::string> names;
  for (const Site& site : sites) {
    for (std::string& name : nodes_of(site)) names.push_back(std::move(name));
  }
  return names;
}

Status check_size(const ClusterSettings& settings) {
  const std::size_t count = all_nodes(settings.sites).size();
  const std::size_t kubelets = settings.kubelet_nodes.size();
  const ClusterLimits limits;
  if (count > limits.nodes) {
    return fail(Errc::invalid, std::to_string(count) + " nodes: at most " +
                                   std::to_string(limits.nodes) +
                                   " can run as real processes; `sim` plays more");
  }
  if (kubelets > limits.kubelets) {
    return fail(Errc::invalid, std::to_string(kubelets) + " nodes with a kubelet: at most " +
                                   std::to_string(limits.kubelets) + " can run on one machine");
  }
  return {};
}

}  // namespace

std::vector<std::string> nodes_of(const Site& site) {
  std::vector<std::string> names;
  for (int number = 1; number <= site.nodes; ++number) {
    names.push_back(site.name + "-" + std::to_string(number));
  }
  return names;
}

bool can_create_namespaces() { return net::NetworkNamespace::create().has_value(); }

Cluster::Cluster(const asio::any_io_executor& executor, ClusterSettings settings,
                 const Clock& clock, ClusterReports reports)
    : executor_(executor),
      settings_(std::move(settings)),
      clock_(clock),
      reports_(std::move(reports)),
      children_(settings_.bin.empty() ? own_folder() : settings_.bin, settings_.data / "logs",
                clock_),
      tasks_(executor) {
  ControlPlaneSettings plane;
  plane.data = settings_.data;
  plane.nodes = all_nodes(settings_.sites);
  plane.cloud = settings_.cloud;
  plane.kubernetes = settings_.kubernetes;
  plane.tls = settings_.tls;
  plane.host = settings_.host;
  plane.cloud_schedules = settings_.cloud_schedules;
  control_plane_ = std::make_unique<ControlPlane>(executor, std::move(plane), children_, clock_);
}

Cluster::~Cluster() = default;

asio::awaitable<Status> Cluster::start() {
  Status done = check_size(settings_);
  if (done) done = fs::ensure_dir(settings_.data / "logs");
  if (done && settings_.kubelet) (void)NodeGroups::remove_leftovers();
  if (done) done = co_await control_plane_->start_server();
  if (!done) co_return done;
  tasks_.spawn("reaper", reap_children());
  done = co_await control_plane_->start_cloud();
  for (const Site& site : settings_.sites) {
    for (const std::string& name : nodes_of(site)) {
      if (done) done = co_await start_node(site, name);
    }
    if (!site.link.trace.empty()) in_background("trace of " + site.name, play_trace(site));
  }
  co_return done;
}

asio::awaitable<Status> Cluster::start_node(Site site, std::string name) {
  LabNodeSettings made;
  made.name = name;
  made.api_name = name;
  std::optional<guest::Guest> guest;
  if (settings_.host) {
    guest = settings_.host->guest;
    made.api_name = guest->name(name);
  }
  ApiActions api(client(), clock_);
  Status done = co_await api.post("/api/v1/nodes", node_object(site, made.api_name, guest));
  if (done) done = co_await control_plane_->admit(name);
  if (!done) co_return fail("create node " + made.api_name, done.error());
  made.data = settings_.data / "nodes";
  made.edge = settings_.edge;
  made.node = settings_.node;
  // The pods of others on it are those of their DaemonSets.
  if (guest) made.node.emplace_back("pod-selector", guest->selector());
  made.own_namespace = settings_.namespaces;
  made.seed = settings_.seed + nodes_.size();
  made.api_server = control_plane_->address();
  made.kubelet_client_ca = control_plane_->kubelet_client_ca();
  const ControlPlane* plane = control_plane_.get();
  made.kubeconfig = [plane, name](std::uint16_t port) {
    return plane->node_kubeconfig(name, port);
  };
  made.site = std::move(site);
  made.number = static_cast<int>(nodes_.size()) + 1;
  if (settings_.kubelet_nodes.contains(name)) made.kubelet = settings_.kubelet;
  made.lease_duration = settings_.kubelet_lease;
  done = fs::ensure_dir(made.data);
  if (!done) co_return done;
  CO_TRY(auto node, LabNode::make(executor_, std::move(made), children_, clock_));
  nodes_.push_back(std::move(node));
  LabNode& added = *nodes_.back();
  if (added.kubelet() != nullptr) tasks_.spawn("pods of " + name, added.kubelet()->follow());
  co_return co_await added.start();
}

ApiActions Cluster::actions() {
  return {client(), clock_, settings_.host ? settings_.host->guest.query() : std::string()};
}

asio::awaitable<std::vector<int>> Cluster::stop() {
  tasks_.cancel();
  co_await tasks_.join();
  for (const auto& node : nodes_) node->end_kubelet();
  auto left = co_await children_.end_all(clock_.mono() + end_limit);
  for (const auto& node : nodes_) co_await node->stop();
  co_await control_plane_->stop();
  co_return left;
}

LabNode* Cluster::find(const std::string& name) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&name](const auto& node) { return node->name() == name; });
  return found == nodes_.end() ? nullptr : found->get();
}

std::vector<LabNode*> Cluster::targets(const Target& target) const {
  std::vector<LabNode*> found;
  for (const auto& node : nodes_) {
    const bool is_meant = target == "all" || target == node->site().name || target == node->name();
    if (is_meant) found.push_back(node.get());
  }
  return found;
}

asio::awaitable<void> Cluster::reap_children() {
  for (;;) {
    children_.reap();
    co_await loop::wait_for(reap_interval);
  }
}

void Cluster::in_background(std::string what, asio::awaitable<Status> task) {
  std::string name = what;
  tasks_.spawn(std::move(name), report_failure(std::move(what), std::move(task)));
}

asio::awaitable<void> Cluster::report_failure(std::string what, asio::awaitable<Status> task) {
  const Status done = co_await std::move(task);
  if (!done && reports_.problem) reports_.problem(what + ": " + done.error().what);
}

void Cluster::changed(const LabNode& node) const {
  if (reports_.node_changed) reports_.node_changed(node);
}

}  // namespace holdfast::agent::lab::cluster
