#include "agent/lab/faults/fault_proxy.h"

#include <algorithm>
#include <optional>
#include <set>

#include "platform/check.h"
#include "platform/log.h"
#include "platform/loop/clock.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/net/reserved_address.h"

namespace holdfast::agent::faults {
namespace {

using ConnectionPtr = std::shared_ptr<ProxiedConnection>;

constexpr Duration accept_limit = std::chrono::seconds(5);
constexpr Duration accept_pause = std::chrono::milliseconds(100);

// Lists a connection for the time of its scope.
class Listed {
 public:
  Listed(std::set<ConnectionPtr>& all, ConnectionPtr connection)
      : all_(all), connection_(std::move(connection)) {
    all_.insert(connection_);
  }
  ~Listed() { all_.erase(connection_); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  std::set<ConnectionPtr>& all_;
  ConnectionPtr connection_;
};

bool is_refusal(const Toxic& toxic) { return toxic.type == ToxicType::refuse; }

}  // namespace

struct FaultProxy::State : std::enable_shared_from_this<State> {
  State(asio::any_io_executor where, net::HostPort listen, net::HostPort to,
        FaultProxySettings settings)
      : executor(where),
        clock(loop::clock_of(where)),
        at(std::move(listen)),
        target(std::move(to)),
        seeds(settings.seed),
        load(settings.load ? std::move(settings.load) : std::make_shared<ProxyLoad>()),
        listen_in(std::move(settings.listen_in)),
        connect_in(std::move(settings.connect_in)),
        tasks(std::move(where)) {}

  static asio::awaitable<void> accept_all(std::shared_ptr<State> self,
                                          std::shared_ptr<net::Listener> on);
  static asio::awaitable<void> serve(std::shared_ptr<State> self,
                                     std::unique_ptr<net::Pending> pending);

  [[nodiscard]] Status follow(bool resets);
  [[nodiscard]] Result<net::ReservedAddress> reserve(const net::HostPort& where) const;
  [[nodiscard]] Status reserve();
  [[nodiscard]] Status listen();
  void close();
  void stop_listening();
  void end_connections(bool resets);
  bool close_abandoned();
  [[nodiscard]] std::vector<Toxic>::iterator find(std::string_view name);
  [[nodiscard]] Status add(const Toxic& toxic);
  [[nodiscard]] Status change(const Toxic& toxic);
  [[nodiscard]] Status remove(std::string_view name);
  [[nodiscard]] Status set(const std::vector<Toxic>& wanted);

  asio::any_io_executor executor;
  const Clock& clock;
  net::HostPort at;
  net::HostPort target;
  Random seeds;
  std::shared_ptr<ProxyLoad> load;
  std::shared_ptr<const net::NetworkNamespace> listen_in;
  std::shared_ptr<const net::NetworkNamespace> connect_in;
  bool enabled = false;
  std::vector<Toxic> toxics;
  std::optional<net::ReservedAddress> reserved;  // `at`, while it is enabled
  std::shared_ptr<net::Listener> listener;       // null while it does not listen
  std::set<ConnectionPtr> connections;
  std::shared_ptr<ProxyTraffic> upstream = std::make_shared<ProxyTraffic>();
  std::shared_ptr<ProxyTraffic> downstream = std::make_shared<ProxyTraffic>();
  loop::Tasks tasks;
};

asio::awaitable<void> FaultProxy::State::accept_all(std::shared_ptr<State> self,
                                                    std::shared_ptr<net::Listener> on) {
  for (;;) {
    auto pending = co_await on->accept();
    if (self->listener != on) co_return;
    if (!pending) {
      log_warn("proxy cannot accept", {{"listen", self->at.text()}, {"error", pending.error()}});
      co_await loop::wait_for(accept_pause);  // Out of descriptors.
      continue;
    }
    const bool full = self->load->connections >= self->load->limits.connections;
    if (full && !self->close_abandoned()) {
      log_warn("too many connections through the proxy", {{"listen", self->at.text()}});
      continue;
    }
    self->tasks.spawn("proxied connection", serve(self, *std::move(pending)));
  }
}

asio::awaitable<void> FaultProxy::State::serve(std::shared_ptr<State> self,
                                               std::unique_ptr<net::Pending> pending) {
  auto client = co_await pending->establish(self->clock.mono() + accept_limit);
  if (!client || !self->listener) co_return;
  ProxiedConnection::Settings settings;
  settings.server = self->target;
  settings.connect_in = self->connect_in;
  settings.toxics = self->toxics;
  settings.seed = self->seeds.next();
  settings.load = self->load;
  settings.upstream = self->upstream;
  settings.downstream = self->downstream;
  const auto connection =
      std::make_shared<ProxiedConnection>(self->executor, *std::move(client), std::move(settings));
  const Listed listed(self->connections, connection);
  co_await ProxiedConnection::run(connection);
}

// Listens, or stops to, as the proxy's state demands. A proxy that refuses keeps its address, so
// that no other program answers its clients. Errors: those of listening; the proxy is disabled
// then.
Status FaultProxy::State::follow(bool resets) {
  Status outcome;
  if (enabled && !reserved) outcome = reserve();
  const bool refuses = std::any_of(toxics.begin(), toxics.end(), is_refusal);
  if (outcome && enabled && !refuses && !listener) outcome = listen();
  if (!outcome) enabled = false;
  if (!enabled || refuses) {
    stop_listening();
    end_connections(resets);
  }
  if (!enabled) reserved.reset();
  return outcome;
}

Result<net::ReservedAddress> FaultProxy::State::reserve(const net::HostPort& where) const {
  const net::InsideNamespace inside(listen_in.get());
  return net::ReservedAddress::open(executor, where);
}

Status FaultProxy::State::reserve() {
  TRY(reserved, reserve(at));
  at = reserved->at();
  return {};
}

Status FaultProxy::State::listen() {
  const net::InsideNamespace inside(listen_in.get());
  TRY(listener, reserved->listen(nullptr));
  tasks.spawn("fault proxy", accept_all(shared_from_this(), listener));
  return {};
}

void FaultProxy::State::stop_listening() {
  if (listener) listener->close();
  listener.reset();
}

void FaultProxy::State::close() {
  enabled = false;
  stop_listening();
  end_connections(false);
  reserved.reset();
}

void FaultProxy::State::end_connections(bool resets) {
  for (const ConnectionPtr& connection : connections) {
    if (resets) {
      connection->reset();
    } else {
      connection->close();
    }
  }
}

// Makes room for a new connection by closing one whose client has ended its stream. A long black
// hole of the downstream direction would otherwise collect every connection that was given up in
// it.
bool FaultProxy::State::close_abandoned() {
  const auto is_abandoned = [](const ConnectionPtr& each) { return each->is_abandoned(); };
  const auto found = std::find_if(connections.begin(), connections.end(), is_abandoned);
  if (found == connections.end()) return false;
  (*found)->close();
  return true;
}

std::vector<Toxic>::iterator FaultProxy::State::find(std::string_view name) {
  return std::find_if(toxics.begin(), toxics.end(),
                      [name](const Toxic& toxic) { return toxic.name == name; });
}

Status FaultProxy::State::add(const Toxic& toxic) {
  CHECK(!toxic.name.empty());
  if (find(toxic.name) != toxics.end()) return fail(Errc::conflict, "toxic already exists");
  if (toxics.size() >= load->limits.toxics) {
    return fail(Errc::exhausted,
                "a proxy has at most " + std::to_string(load->limits.toxics) + " toxics");
  }
  toxics.push_back(toxic);
  if (is_refusal(toxic)) return follow(true);
  for (const ConnectionPtr& connection : connections) connection->add(toxic);
  return {};
}

Status FaultProxy::State::change(const Toxic& toxic) {
  const auto found = find(toxic.name);
  if (found == toxics.end()) return fail(Errc::not_found, "toxic not found");
  CHECK(found->type == toxic.type && found->stream == toxic.stream);
  *found = toxic;
  if (is_refusal(toxic)) return {};
  for (const ConnectionPtr& connection : connections) connection->change(toxic);
  return {};
}

Status FaultProxy::State::remove(std::string_view name) {
  const auto found = find(name);
  if (found == toxics.end()) return fail(Errc::not_found, "toxic not found");
  const Toxic removed = std::move(*found);
  toxics.erase(found);
  if (is_refusal(removed)) return follow(false);
  for (const ConnectionPtr& connection : connections) connection->remove(removed);
  return {};
}

Status FaultProxy::State::set(const std::vector<Toxic>& wanted) {
  for (const Toxic& toxic : wanted) {
    const auto found = find(toxic.name);
    const bool exists = found != toxics.end();
    const bool same_kind = exists && found->type == toxic.type && found->stream == toxic.stream;
    if (exists && !same_kind) {
      if (auto removed = remove(toxic.name); !removed) return removed;
    }
    if (auto done = same_kind ? change(toxic) : add(toxic); !done) return done;
  }
  const std::vector<Toxic> present = toxics;
  for (const Toxic& toxic : present) {
    const auto is_same = [&toxic](const Toxic& other) { return other.name == toxic.name; };
    if (std::any_of(wanted.begin(), wanted.end(), is_same)) continue;
    if (auto removed = remove(toxic.name); !removed) return removed;
  }
  return {};
}

FaultProxy::FaultProxy(std::shared_ptr<State> state) : state_(std::move(state)) {}

// The tasks own what they use, and end because their sockets are closed.
FaultProxy::~FaultProxy() { state_->close(); }

Result<std::unique_ptr<FaultProxy>> FaultProxy::open(asio::any_io_executor executor,
                                                     const net::HostPort& listen,
                                                     net::HostPort upstream,
                                                     FaultProxySettings settings) {
  const bool enabled = settings.enabled;
  auto state = std::make_shared<State>(std::move(executor), listen, std::move(upstream),
                                       std::move(settings));
  std::unique_ptr<FaultProxy> proxy(new FaultProxy(std::move(state)));
  if (!enabled) return proxy;
  if (auto listening = proxy->enable(); !listening) return fail(listening.error());
  return proxy;
}

Status FaultProxy::add(const Toxic& toxic) { return state_->add(toxic); }
Status FaultProxy::change(const Toxic& toxic) { return state_->change(toxic); }
Status FaultProxy::remove(std::string_view name) { return state_->remove(name); }
Status FaultProxy::set(const std::vector<Toxic>& toxics) { return state_->set(toxics); }
const std::vector<Toxic>& FaultProxy::toxics() const { return state_->toxics; }

const Toxic* FaultProxy::find(std::string_view name) const {
  const auto found = state_->find(name);
  return found == state_->toxics.end() ? nullptr : &*found;
}

Status FaultProxy::enable() {
  state_->enabled = true;
  return state_->follow(false);
}

void FaultProxy::disable() { state_->close(); }

bool FaultProxy::is_enabled() const { return state_->enabled; }

Status FaultProxy::move(net::HostPort listen, net::HostPort upstream) {
  State& state = *state_;
  const bool same_address = listen == state.at;
  if (same_address && upstream == state.target) return {};
  if (state.reserved && !same_address) {
    TRY(state.reserved, state.reserve(listen));
    state.stop_listening();
  }
  state.end_connections(false);
  state.at = state.reserved ? state.reserved->at() : std::move(listen);
  state.target = std::move(upstream);
  return state.follow(false);
}

const net::HostPort& FaultProxy::listen() const { return state_->at; }
const net::HostPort& FaultProxy::upstream() const { return state_->target; }
std::size_t FaultProxy::connections() const { return state_->connections.size(); }

const ProxyTraffic& FaultProxy::traffic(Stream direction) const {
  CHECK(direction != Stream::both);
  return direction == Stream::upstream ? *state_->upstream : *state_->downstream;
}

asio::awaitable<void> FaultProxy::stop() {
  const auto state = state_;
  state->close();
  state->tasks.cancel();
  co_await state->tasks.join();
}

}  // namespace holdfast::agent::faults
