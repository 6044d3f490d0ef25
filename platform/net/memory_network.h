// A network in memory for an event loop in virtual time: connections with latency, bandwidth and
// bounded buffers, which can be refused, silenced, reset and half closed. TLS runs over them as
// over TCP. The same calls give the same result each time.
//
// All programs of a loop share the network, each under addresses of its own if it is to be cut off
// alone. Faults belong to a link, which is named by the address at which a server listens, and to
// one of its directions.
//
// Threading: the loop's thread only. The network must outlive its loop.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/loop/event.h"
#include "platform/net/memory_names.h"
#include "platform/net/memory_pipe.h"
#include "platform/net/network.h"

namespace holdfast::net {

enum class Direction { to_server, to_client };

class MemorySocket;

class MemoryNetwork final : public Network {
 public:
  MemoryNetwork();
  ~MemoryNetwork() override;
  MemoryNetwork(const MemoryNetwork&) = delete;
  MemoryNetwork& operator=(const MemoryNetwork&) = delete;

  // Errors: invalid (not an IP address), unavailable (in use). Port 0 selects the next free port.
  [[nodiscard]] Result<std::unique_ptr<Listener>> listen(
      asio::any_io_executor executor, const HostPort& at,
      std::shared_ptr<const tls::Context> tls) override;

  [[nodiscard]] Result<ReservedAddress> reserve(asio::any_io_executor executor,
                                                const HostPort& at) override;

  void look_up(const asio::any_io_executor& executor, const std::string& host,
               OnAddresses done) override;

  // Errors: timeout, unavailable (nobody listens, or the link is refused).
  asio::awaitable<Result<std::unique_ptr<Dialed>>> dial(HostPort to, std::string address,
                                                        MonoTime deadline) override;

  [[nodiscard]] Result<std::unique_ptr<NetworkChanges>> watch_changes(
      const asio::any_io_executor& executor) override;
  // Tells all who watch that the network has become better.
  void announce_change();

  [[nodiscard]] MemoryNames& names() { return names_; }

  // Who connects from now on: the owner of the connecting sockets, whose inode and cookie the
  // network chooses. Default: this process, in no cgroup.
  void set_caller(const SocketOwner& caller) { caller_ = caller; }

  // The link of the server that listens at `server`, which must name an IP address.
  void set_link(const HostPort& server, Direction direction, const LinkConditions& conditions);
  void set_link(const HostPort& server, const LinkConditions& conditions);  // both directions
  [[nodiscard]] LinkConditions link(const HostPort& server, Direction direction) const;
  // Makes new connections fail as if nobody listened. Existing ones stay.
  void refuse(const HostPort& server, bool is_refused);
  // Resets all connections of the link, on both ends.
  void reset_connections(const HostPort& server);

  // How many connections of the link are open on either end.
  [[nodiscard]] std::size_t connections(const HostPort& server) const;

 private:
  struct Link;
  class MemoryListener;
  class MemoryHolder;
  class MemoryPending;
  class MemoryChanges;
  using Address = std::pair<std::string, std::uint16_t>;

  Link& link_of(const Address& server);
  MemoryListener* listener_of(const Address& server) const;
  // Whether nothing listens at this address and nobody has reserved it.
  bool is_free(const Address& address) const;
  // Checks that `at` is free and selects a port if it names none.
  Result<Address> take(const HostPort& at);
  std::uint16_t free_port(const std::string& host);
  // Waits until the link to `at` would deliver a request to connect and its answer. Errors begin
  // with `what`.
  asio::awaitable<Status> reach(Address at, std::string what, MonoTime deadline);
  Result<MemorySocket> join(const asio::any_io_executor& executor, const HostPort& at,
                            const std::string& what);

  std::map<Address, std::unique_ptr<Link>> links_;
  std::map<Address, MemoryListener*> listeners_;  // they remove themselves
  std::set<Address> reserved_;                    // the holders remove theirs
  MemoryNames names_;
  std::uint64_t changes_ = 0;  // that were announced so far
  std::vector<std::weak_ptr<loop::Event>> watchers_;
  std::uint16_t next_port_ = 0;
  std::uint64_t sockets_ = 0;  // that were created so far
  SocketOwner caller_;
};

}  // namespace holdfast::net
