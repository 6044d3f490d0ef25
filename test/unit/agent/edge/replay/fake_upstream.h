// An API server that replays recorded answers: at each moment it gives the answer that the real
// server gave at that point.
//
// Lists and watches reflect the current point of the recording: the last recorded list and the
// frames since then. Every other request gets the answer of the exchange that is being replayed.
// Only the agent's own lease is invented. Requests that the recording does not have are refused and
// noted.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/http/server.h"
#include "platform/loop/event.h"
#include "platform/net/reserved_address.h"
#include "sync/wire/list_bytes.h"
#include "test/unit/agent/edge/replay/recording.h"

namespace holdfast::agent::replay {

namespace asio = boost::asio;

class FakeUpstream {
 public:
  using Objects = std::map<std::string, std::string>;  // name -> bytes in the envelope

  FakeUpstream(asio::any_io_executor executor, const Recording& recording);

  void listen();
  // Closes all connections and refuses new ones.
  asio::awaitable<void> cut(MonoTime deadline);
  [[nodiscard]] std::uint16_t port() const { return address_.at().port; }

  // Continues to this exchange and to all frames that had arrived by then.
  void advance(const Exchange& to);

  // The current objects of a scope; nullptr if it was never listed.
  [[nodiscard]] const Objects* objects(const std::string& scope) const;

  std::vector<std::string> unexpected;  // requests that are not in the recording
  int renewals = 0;                     // of the agent's lease

 private:
  friend class UpstreamWatch;
  struct Scope {
    sync::wire::ListHead head;
    Objects objects;
    std::string version;        // of the newest list or event; empty: none has been recorded yet
    std::vector<Frame> frames;  // received frames, in order
  };

  asio::awaitable<http::Response> answer(const http::Request& request);
  http::Response lease(const http::Request& request);
  http::Response node();
  http::Response list(const std::string& scope);
  http::Response watch(const http::Request& request);
  void take_list(Scope& scope, const Exchange& list);
  void take_initial(Scope& scope, const Exchange& watch);
  static void replace(Scope& scope, Objects objects, Duration at);
  void take_frames(Scope& scope, const Exchange& watch, Duration until);
  void note_csi_node(const Exchange& exchange);

  asio::any_io_executor executor_;
  std::string lease_;  // the agent's lease as JSON; empty: there is none
  const Recording& recording_;
  std::unique_ptr<http::Server> server_;
  net::ReservedAddress address_;
  loop::Event changed_;
  const Exchange* now_ = nullptr;
  std::map<std::string, Scope> scopes_;
  std::map<int, std::size_t> taken_;  // watch's line -> how many of its frames were taken
};

}  // namespace holdfast::agent::replay
