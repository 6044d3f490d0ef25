#include "platform/net/memory_network.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <deque>
#include <optional>

#include "platform/check.h"
#include "platform/loop/event.h"
#include "platform/net/establish.h"
#include "platform/net/memory_socket.h"

namespace holdfast::net {
namespace {

using boost::system::error_code;

// As Linux does by default (net.ipv4.ip_local_port_range, net.core.somaxconn).
constexpr std::uint16_t first_port = 32768;
constexpr std::uint16_t last_port = 60999;
constexpr std::size_t backlog_max = 4096;

Error refused(const std::string& what) {
  return loop::to_error(asio::error::connection_refused, what);
}

Error in_use(const HostPort& at) {
  return loop::to_error(asio::error::address_in_use, "listen on " + at.text());
}

}  // namespace

struct MemoryNetwork::Link {
  std::shared_ptr<LinkDirection> to_server = std::make_shared<LinkDirection>();
  std::shared_ptr<LinkDirection> to_client = std::make_shared<LinkDirection>();
  bool is_refused = false;
  std::vector<MemorySocket::Watched> connections;
  std::unique_ptr<loop::Event> changed;  // for those that wait to connect

  [[nodiscard]] LinkDirection& side(Direction direction) const {
    return direction == Direction::to_server ? *to_server : *to_client;
  }
  [[nodiscard]] bool is_silent() const {
    return to_server->conditions().is_silent || to_client->conditions().is_silent;
  }
  [[nodiscard]] Duration round_trip() const {
    return to_server->conditions().latency + to_client->conditions().latency;
  }
  void notify() const {
    if (changed) changed->notify_all();
  }
};

class MemoryNetwork::MemoryPending final : public Pending {
 public:
  MemoryPending(MemorySocket socket, std::shared_ptr<const tls::Context> tls)
      : socket_(std::move(socket)), tls_(std::move(tls)), peer_(peer_of(socket_)) {}

  [[nodiscard]] const Peer& peer() const override { return peer_; }

  asio::awaitable<Result<std::unique_ptr<Connection>>> establish(MonoTime deadline) override {
    auto made = co_await establish_accepted(std::move(socket_), tls_, peer_, deadline);
    co_return made;
  }

 private:
  MemorySocket socket_;
  std::shared_ptr<const tls::Context> tls_;
  Peer peer_;
};

class MemoryNetwork::MemoryChanges final : public NetworkChanges {
 public:
  MemoryChanges(const MemoryNetwork& network, std::shared_ptr<loop::Event> changed)
      : network_(network), seen_(network.changes_), changed_(std::move(changed)) {}

  asio::awaitable<Status> next() override {
    while (seen_ == network_.changes_) co_await changed_->wait();
    seen_ = network_.changes_;
    Status done;
    co_return done;
  }

 private:
  const MemoryNetwork& network_;
  std::uint64_t seen_;
  std::shared_ptr<loop::Event> changed_;
};

class MemoryNetwork::MemoryListener final : public Listener {
 public:
  MemoryListener(MemoryNetwork& network, const asio::any_io_executor& executor, Address at,
                 std::shared_ptr<const tls::Context> tls)
      : network_(network),
        at_(std::move(at)),
        queue_(std::make_shared<Queue>(executor)),
        tls_(std::move(tls)) {
    network_.listeners_[at_] = this;
  }
  ~MemoryListener() override { MemoryListener::close(); }
  MemoryListener(const MemoryListener&) = delete;
  MemoryListener& operator=(const MemoryListener&) = delete;

  asio::awaitable<Result<std::unique_ptr<Pending>>> accept() override {
    const auto queue = queue_;
    const auto tls = tls_;
    while (queue->sockets.empty() && !queue->is_closed) co_await queue->changed.wait();
    if (queue->is_closed) {
      co_return fail(loop::to_error(asio::error::operation_aborted, "accept"));
    }
    MemorySocket socket = std::move(queue->sockets.front());
    queue->sockets.pop_front();
    std::unique_ptr<Pending> pending = std::make_unique<MemoryPending>(std::move(socket), tls);
    co_return pending;
  }

  void close() override {
    if (std::exchange(queue_->is_closed, true)) return;
    for (MemorySocket& socket : queue_->sockets) send_reset(socket);
    queue_->sockets.clear();
    queue_->changed.notify_all();
    network_.listeners_.erase(at_);
  }

  [[nodiscard]] std::uint16_t port() const override { return at_.second; }

  // Returns whether there was room.
  [[nodiscard]] bool add(MemorySocket socket) {
    if (queue_->sockets.size() >= backlog_max) return false;
    queue_->sockets.push_back(std::move(socket));
    queue_->changed.notify_all();
    return true;
  }

 private:
  struct Queue {
    explicit Queue(const asio::any_io_executor& executor) : changed(executor) {}
    std::deque<MemorySocket> sockets;
    bool is_closed = false;
    loop::Event changed;
  };

  MemoryNetwork& network_;
  Address at_;
  std::shared_ptr<Queue> queue_;
  std::shared_ptr<const tls::Context> tls_;
};

MemoryNetwork::MemoryNetwork()
    : next_port_(first_port), caller_{.uid = ::geteuid(), .holder = ::getpid()} {}

MemoryNetwork::~MemoryNetwork() { CHECK(listeners_.empty()); }

class MemoryNetwork::MemoryHolder final : public ReservedAddress::Holder {
 public:
  MemoryHolder(MemoryNetwork& network, asio::any_io_executor executor, Address at)
      : network_(network), executor_(std::move(executor)), at_(std::move(at)) {
    network_.reserved_.insert(at_);
  }
  ~MemoryHolder() override { network_.reserved_.erase(at_); }
  MemoryHolder(const MemoryHolder&) = delete;
  MemoryHolder& operator=(const MemoryHolder&) = delete;

  [[nodiscard]] Result<std::unique_ptr<Listener>> listen(
      const HostPort& at, std::shared_ptr<const tls::Context> tls) override {
    if (network_.listener_of(at_) != nullptr) return fail(in_use(at));
    return std::unique_ptr<Listener>(
        std::make_unique<MemoryListener>(network_, executor_, at_, std::move(tls)));
  }

 private:
  MemoryNetwork& network_;
  asio::any_io_executor executor_;
  Address at_;
};

Result<MemoryNetwork::Address> MemoryNetwork::take(const HostPort& at) {
  error_code ec;
  const auto address = asio::ip::make_address(at.host, ec);
  if (ec) return fail(Errc::invalid, "listen address " + at.text() + ": not an IP address", ec);
  Address taken{address.to_string(), at.port};
  if (at.port == 0) taken.second = free_port(taken.first);
  if (!is_free(taken)) return fail(in_use(at));
  return taken;
}

Result<std::unique_ptr<Listener>> MemoryNetwork::listen(asio::any_io_executor executor,
                                                        const HostPort& at,
                                                        std::shared_ptr<const tls::Context> tls) {
  TRY(Address taken, take(at));
  return std::unique_ptr<Listener>(
      std::make_unique<MemoryListener>(*this, executor, std::move(taken), std::move(tls)));
}

Result<ReservedAddress> MemoryNetwork::reserve(asio::any_io_executor executor, const HostPort& at) {
  TRY(Address taken, take(at));
  HostPort reserved = at;
  reserved.port = taken.second;
  return ReservedAddress(
      std::make_unique<MemoryHolder>(*this, std::move(executor), std::move(taken)),
      std::move(reserved));
}

asio::awaitable<Result<std::unique_ptr<Dialed>>> MemoryNetwork::dial(HostPort to,
                                                                     std::string address,
                                                                     MonoTime deadline) {
  const auto executor = co_await asio::this_coro::executor;
  const std::string what = connecting_to(to, address);
  Address link(address, to.port);
  const Status reached = co_await reach(std::move(link), what, deadline);
  if (!reached) co_return fail(reached.error());
  HostPort at;
  at.host = std::move(address);
  at.port = to.port;
  CO_TRY(MemorySocket socket, join(executor, at, what));
  co_return dialed_socket(std::move(socket));
}

asio::awaitable<Status> MemoryNetwork::reach(Address at, std::string what, MonoTime deadline) {
  const auto executor = co_await asio::this_coro::executor;
  const Clock& clock = loop::clock_of(executor);
  Link& link = link_of(at);
  if (!link.changed) link.changed = std::make_unique<loop::Event>(executor);
  Status done;
  for (MonoTime answered = MonoTime::max();;) {
    const MonoTime now = clock.mono();
    if (link.is_silent()) {
      answered = MonoTime::max();
    } else {
      answered = std::min(answered, now + link.round_trip());
    }
    if (answered <= now) co_return done;
    if (deadline <= now) co_return fail(Errc::timeout, what + ": deadline passed");
    (void)co_await link.changed->wait_until(std::min(answered, deadline));
  }
}

Result<MemorySocket> MemoryNetwork::join(const asio::any_io_executor& executor, const HostPort& to,
                                         const std::string& what) {
  Link& link = link_of({to.host, to.port});
  MemoryListener* const listener = listener_of({to.host, to.port});
  if (listener == nullptr || link.is_refused) return fail(refused(what));
  MemorySocket::End client;
  client.peer.address = to.host;
  client.peer.port = to.port;
  // A program that connects to an address of its own machine does so from this address.
  client.peer.local_address = to.host;
  client.peer.local_port = free_port(to.host);
  if (to.is_loopback()) {
    client.owner = caller_;
    client.owner->inode = ++sockets_;
    client.owner->cookie = sockets_;
  }
  MemorySocket::End server;
  server.peer.address = client.peer.local_address;
  server.peer.port = client.peer.local_port;
  server.peer.local_address = to.host;
  server.peer.local_port = to.port;
  server.peer.owner = client.owner;
  auto ends = MemorySocket::connect(executor, std::move(client), std::move(server), link.to_server,
                                    link.to_client);
  if (!listener->add(std::move(ends.server))) return fail(refused(what));
  std::erase_if(link.connections, [](const auto& each) { return !each.is_open(); });
  link.connections.push_back(ends.client.watched());
  return std::move(ends.client);
}

Result<std::unique_ptr<NetworkChanges>> MemoryNetwork::watch_changes(
    const asio::any_io_executor& executor) {
  auto changed = std::make_shared<loop::Event>(executor);
  watchers_.push_back(changed);
  return std::unique_ptr<NetworkChanges>(
      std::make_unique<MemoryChanges>(*this, std::move(changed)));
}

void MemoryNetwork::announce_change() {
  ++changes_;
  std::erase_if(watchers_, [](const auto& each) { return each.expired(); });
  for (const auto& each : watchers_) each.lock()->notify_all();
}

void MemoryNetwork::look_up(const asio::any_io_executor& executor, const std::string& host,
                            OnAddresses done) {
  names_.look_up(executor, host, std::move(done));
}

void MemoryNetwork::set_link(const HostPort& server, Direction direction,
                             const LinkConditions& conditions) {
  const Link& link = link_of({server.host, server.port});
  link.side(direction).set(conditions);
  link.notify();
}

void MemoryNetwork::set_link(const HostPort& server, const LinkConditions& conditions) {
  set_link(server, Direction::to_server, conditions);
  set_link(server, Direction::to_client, conditions);
}

LinkConditions MemoryNetwork::link(const HostPort& server, Direction direction) const {
  const auto found = links_.find({server.host, server.port});
  return found == links_.end() ? LinkConditions{} : found->second->side(direction).conditions();
}

void MemoryNetwork::refuse(const HostPort& server, bool is_refused) {
  Link& link = link_of({server.host, server.port});
  link.is_refused = is_refused;
  link.notify();
}

void MemoryNetwork::reset_connections(const HostPort& server) {
  Link& link = link_of({server.host, server.port});
  for (MemorySocket::Watched& each : link.connections) each.reset();
}

std::size_t MemoryNetwork::connections(const HostPort& server) const {
  const auto found = links_.find({server.host, server.port});
  if (found == links_.end()) return 0;
  const auto& all = found->second->connections;
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& each) { return each.is_open(); }));
}

MemoryNetwork::Link& MemoryNetwork::link_of(const Address& server) {
  std::unique_ptr<Link>& link = links_[server];
  if (!link) link = std::make_unique<Link>();
  return *link;
}

// The listener at this address or at the wildcard of its family; null if there is none.
MemoryNetwork::MemoryListener* MemoryNetwork::listener_of(const Address& server) const {
  const bool is_v6 = server.first.find(':') != std::string::npos;
  for (const Address& at : {server, Address{is_v6 ? "::" : "0.0.0.0", server.second}}) {
    const auto found = listeners_.find(at);
    if (found != listeners_.end()) return found->second;
  }
  return nullptr;
}

bool MemoryNetwork::is_free(const Address& address) const {
  return listener_of(address) == nullptr && !reserved_.contains(address);
}

std::uint16_t MemoryNetwork::free_port(const std::string& host) {
  for (int tries = 0; tries <= last_port - first_port; ++tries) {
    const std::uint16_t port = next_port_;
    next_port_ = port == last_port ? first_port : static_cast<std::uint16_t>(port + 1);
    if (is_free({host, port})) return port;
  }
  check_failed(__FILE__, __LINE__, "every port has a listener");
}

}  // namespace holdfast::net
