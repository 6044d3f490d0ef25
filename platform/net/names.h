// The addresses of host names, for all connections of a loop.
//
// A name is looked up for each connection, but not again within five seconds of a lookup that
// worked. All who wait for a name share one lookup, which goes on when they give up: the answer of
// a name server that takes longer than their deadlines serves the next connection. If the name
// servers do not answer, or answer that they cannot tell, the last known addresses are used, as
// name servers themselves do (RFC 8767). An answer that the name does not exist is believed.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/loop/event.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::net {

namespace asio = boost::asio;

struct NamesLimits {
  // How long addresses are used without asking again. Lookups of the C library have no TTL.
  Duration fresh = std::chrono::seconds(5);
  // How long a lookup may take before the last known addresses are used instead.
  Duration patience = std::chrono::milliseconds(300);
  // Addresses of one name that are tried; a name server may answer with thousands.
  std::size_t addresses = 32;
  // Names that are remembered; beyond that, those whose lookups ended first are forgotten.
  std::size_t names = 1000;
  // Lookups at the same time, each of which may need a thread.
  std::size_t lookups = 16;
};

// IP addresses, in the order in which to try them.
using Addresses = std::vector<std::string>;

class Names {
 public:
  explicit Names(const NamesLimits& limits = {}) : limits_(limits) {}

  // Asks the network of the calling coroutine's loop. `host` is a name, not an address. Errors:
  // timeout, unavailable (the name is unknown, or nobody can tell), exhausted (too many lookups);
  // their texts begin with "resolve HOST". The Names must outlive the call, unless its task is
  // cancelled.
  asio::awaitable<Result<Addresses>> find(std::string host, MonoTime deadline);

  // Whether connections to the host wait for a lookup, because no address is known.
  [[nodiscard]] bool is_waiting_for(const std::string& host) const;

  void clear() { names_.clear(); }

 private:
  struct Name {
    explicit Name(const asio::any_io_executor& executor) : changed(executor) {}
    Addresses addresses;  // as last known; empty: never
    Error error{};        // why the last lookup failed, if it did
    bool failed = false;
    bool looking_up = false;
    MonoTime began;           // when the last lookup began
    MonoTime ended;           // when it ended
    std::size_t lookups = 0;  // that have ended
    loop::Event changed;
  };
  using NamePtr = std::shared_ptr<Name>;

  [[nodiscard]] NamePtr name_of(const asio::any_io_executor& executor, const std::string& host);
  [[nodiscard]] Status look_up(const asio::any_io_executor& executor, const std::string& host,
                               const NamePtr& name);
  void make_room();

  NamesLimits limits_;
  std::map<std::string, NamePtr> names_;
};

// The Names of the executor's loop.
[[nodiscard]] Names& names_of(const asio::any_io_executor& executor);

}  // namespace holdfast::net
