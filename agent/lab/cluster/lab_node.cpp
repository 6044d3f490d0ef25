#include "agent/lab/cluster/lab_node.h"

#include <unistd.h>

#include <csignal>

#include "platform/check.h"
#include "platform/fs/file.h"
#include "platform/text.h"

namespace holdfast::agent::lab::cluster {
namespace {

constexpr Duration edge_start_limit = std::chrono::seconds(15);
// The ports of a node that has a namespace of its own: the programs' defaults.
constexpr std::uint16_t own_edge_port = 10261;
constexpr std::uint16_t own_admin_port = 10267;
constexpr std::uint16_t own_kubelet_port = 10250;

std::string on_loopback(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

// The pids of all processes of this machine.
std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  for (const std::string& name : fs::list_dir("/proc").value_or(std::vector<std::string>())) {
    if (const auto pid = parse_int<pid_t>(name)) pids.push_back(*pid);
  }
  return pids;
}

void kill_all_in(const net::NetworkNamespace& space) {
  for (const pid_t pid : all_pids()) {
    const auto identity = proc::identify(pid);
    if (identity && space.has(pid)) (void)proc::signal_process(*identity, SIGKILL);
  }
}

}  // namespace

Result<std::unique_ptr<LabNode>> LabNode::make(const asio::any_io_executor& executor,
                                               LabNodeSettings settings, Children& children,
                                               const Clock& clock) {
  std::unique_ptr<LabNode> node(new LabNode(std::move(settings), children, clock));
  if (auto opened = node->open(executor); !opened) return fail(node->name(), opened.error());
  return node;
}

Status LabNode::open(const asio::any_io_executor& executor) {
  if (settings_.own_namespace) {
    TRY(auto space, net::NetworkNamespace::create());
    space_ = std::make_shared<const net::NetworkNamespace>(std::move(space));
    edge_port_ = own_edge_port;
    edge_admin_port_ = own_admin_port;
    faults::FaultProxySettings way_in;
    way_in.connect_in = space_;
    TRY(admin_, faults::FaultProxy::open(executor, {"127.0.0.1", 0}, {"127.0.0.1", own_admin_port},
                                         std::move(way_in)));
  }
  faults::FaultProxySettings proxy;
  proxy.seed = settings_.seed;
  proxy.listen_in = space_;
  TRY(link_, Link::open(executor, settings_.api_server, settings_.site.link, std::move(proxy)));
  // The Node says where the way in begins, so its end must be known before holdfast-node starts.
  kubelet_port_ = own_kubelet_port;
  if (!space_) {
    TRY(kubelet_port_, free_port());
  }
  faults::FaultProxySettings to_kubelet;
  to_kubelet.seed = settings_.seed;
  to_kubelet.connect_in = space_;
  if (auto opened = link_->open_way_in(executor, {"127.0.0.1", kubelet_port_}, to_kubelet);
      !opened) {
    return opened;
  }
  for (const auto& made : {folder(), edge_data(), node_data()}) {
    if (auto done = fs::ensure_dir(made); !done) return done;
  }
  const Status written = fs::atomic_write(kubeconfig(), settings_.kubeconfig(link_->port()));
  if (!written || !settings_.kubelet) return written;
  return open_kubelet(executor);
}

Status LabNode::open_kubelet(const asio::any_io_executor& executor) {
  if (!space_) return fail(Errc::invalid, "a kubelet needs a network namespace");
  KubeletSettings made;
  made.node = name();
  made.folder = folder();
  made.programs = *settings_.kubelet;
  made.choices = {.lease_duration = settings_.lease_duration,
                  .pods_max = settings_.site.pods,
                  .edge_url = "http://" + on_loopback(own_edge_port)};
  if (!has_edge()) made.kubeconfig = kubeconfig().string();
  made.space = space_;
  made.number = settings_.number;
  TRY(kubelet_, KubeletMachine::make(executor, std::move(made), children_, clock_));
  return {};
}

std::filesystem::path LabNode::kubeconfig() const { return folder() / "kubeconfig"; }

std::uint16_t LabNode::admin_port() const {
  if (!has_edge()) return 0;
  return admin_ ? admin_->port() : edge_admin_port_;
}

std::string LabNode::child_of(Process process) const {
  return program_of(process) == Program::edge ? edge_child() : node_child();
}

bool LabNode::may_start(Program program) const {
  if (!powered_ || held_.contains(program)) return false;
  return !children_.is_alive(program == Program::edge ? edge_child() : node_child());
}

asio::awaitable<Status> LabNode::start() {
  Status done;
  if (has_edge() && may_start(Program::edge)) done = co_await start_edge();
  if (done && may_start(Program::node) && (edge_port_ != 0 || !has_edge())) {
    done = co_await start_node();
  }
  if (!done) co_return fail(name(), done.error());
  co_return done;
}

Status LabNode::spawn(const std::string& child, const std::string& program, Flags flags) {
  const net::InsideNamespace inside(space_.get());
  TRY([[maybe_unused]] const auto started, children_.start(child, program, as_arguments(flags)));
  return {};
}

asio::awaitable<Status> LabNode::start_edge() {
  Flags flags = settings_.edge;
  const Flags own = {{"node-name", api_name()},
                     {"kubeconfig", kubeconfig().string()},
                     {"data-dir", edge_data().string()},
                     {"listen", on_loopback(edge_port_)},
                     {"admin-listen", on_loopback(edge_admin_port_)},
                     {"allowed-uids", std::to_string(getuid())}};
  flags.insert(flags.end(), own.begin(), own.end());
  // Agents that share the machine's network would also share the listener's fixed port.
  if (!space_) flags.emplace_back("secure-listen", "");
  Status done = spawn(edge_child(), "holdfast-edge", std::move(flags));
  if (!done) co_return done;
  CO_TRY(edge_port_, co_await logged_port("proxy_port"));
  CO_TRY(edge_admin_port_, co_await logged_port("admin_port"));
  co_return done;
}

asio::awaitable<Result<std::uint16_t>> LabNode::logged_port(std::string field) {
  const auto text = co_await children_.logged(edge_child(), " serving ", std::move(field),
                                              clock_.mono() + edge_start_limit);
  if (!text) co_return fail(text.error());
  const auto port = parse_int<std::uint16_t>(*text);
  if (!port) co_return fail(Errc::invalid, "no port: " + *text);
  co_return *port;
}

asio::awaitable<Status> LabNode::start_node() {
  if (kubelet_) {
    Status runs = co_await kubelet_->start_runtime();
    if (runs && may_start(Program::node)) runs = kubelet_->start_kubelet(node_child());
    co_return runs;
  }
  Flags flags = settings_.node;
  const Site& site = settings_.site;
  flags.emplace_back("node-name", api_name());
  flags.emplace_back("data-dir", node_data().string());
  flags.emplace_back("node-capacity", "cpu=" + site.cpu + ",memory=" + site.memory +
                                          ",pods=" + std::to_string(site.pods));
  if (!settings_.kubelet_client_ca.empty()) {
    flags.emplace_back("kubelet-listen", on_loopback(kubelet_port_));
    flags.emplace_back("kubelet-advertise", on_loopback(link_->way_in_port()));
    flags.emplace_back("client-ca-file", settings_.kubelet_client_ca.string());
  }
  if (has_edge()) {
    flags.emplace_back("server", "http://" + on_loopback(edge_port_));
  } else {
    flags.emplace_back("kubeconfig", kubeconfig().string());
  }
  co_return spawn(node_child(), "holdfast-node", std::move(flags));
}

void LabNode::kill(Process process) {
  held_.insert(program_of(process));
  children_.kill(child_of(process));
}

void LabNode::pause(Process process) { children_.signal(child_of(process), SIGSTOP); }

void LabNode::resume(Process process) { children_.signal(child_of(process), SIGCONT); }

void LabNode::power_off() {
  powered_ = false;
  children_.kill(edge_child());
  children_.kill(node_child());
  if (kubelet_) kubelet_->power_off();
  if (space_) {
    kill_all_in(*space_);
  } else {
    kill_containers(node_data());
  }
}

void LabNode::power_on() {
  // A pod that was being started when the power went may have escaped.
  if (!powered_) power_off();
  powered_ = true;
}

void LabNode::end_kubelet() {
  if (!kubelet_) return;
  children_.kill(node_child());
  kubelet_->power_off();
}

asio::awaitable<void> LabNode::stop() {
  if (kubelet_) co_await kubelet_->stop();
  co_await link_->stop();
  if (admin_) co_await admin_->stop();
}

}  // namespace holdfast::agent::lab::cluster
