// The names of a network in memory, and the name server that tells their addresses.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "platform/net/network.h"
#include "platform/time.h"

namespace holdfast::net {

struct NameServer {
  Duration latency{};
  bool is_silent = false;  // does not answer until that changes
  bool is_broken = false;  // answers that it cannot tell
};

class MemoryNames {
 public:
  MemoryNames();

  // Gives a host name its addresses; none makes it unknown. "localhost" is 127.0.0.1.
  void set(const std::string& host, std::vector<std::string> addresses);
  void set_server(const NameServer& server);

  // See Network::look_up().
  void look_up(const asio::any_io_executor& executor, const std::string& host,
               Network::OnAddresses done);
  // How many names were looked up.
  [[nodiscard]] std::size_t lookups() const { return lookups_; }

 private:
  struct Lookup {
    asio::any_io_executor executor;
    std::string host;
    Network::OnAddresses done;
  };
  void answer_later(Lookup lookup);
  asio::awaitable<void> answer(Lookup lookup, Duration latency);
  [[nodiscard]] Result<std::vector<std::string>> addresses_of(const std::string& host) const;

  std::map<std::string, std::vector<std::string>> names_;
  NameServer server_;
  std::vector<Lookup> unanswered_;  // by a silent server
  std::size_t lookups_ = 0;
};

}  // namespace holdfast::net
