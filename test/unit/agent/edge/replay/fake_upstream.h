// An API server made of the recorded answers: at each moment it says what the real one said then.
//
// Lists and watches are answered as of now, by the last recorded list and the frames since; all
// else by the exchange that is being played. The agent's own lease is the one thing it makes up.
// What it is asked beside that, it refuses and notes.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/http/server.h"
#include "platform/loop/event.h"
#include "sync/api/list_bytes.h"
#include "test/unit/agent/edge/replay/recording.h"

namespace holdfast::agent::replay {

namespace asio = boost::asio;

class FakeUpstream {
 public:
  using Objects = std::map<std::string, std::string>;  // name to bytes in the envelope

  FakeUpstream(asio::any_io_executor executor, const Recording& recording);

  void listen();
  // Hangs up on everyone; whoever calls from now on is refused.
  asio::awaitable<void> cut(MonoTime deadline);
  [[nodiscard]] std::uint16_t port() const { return port_; }

  // Goes on to this exchange, and to all frames that had come by then.
  void advance(const Exchange& to);

  // What a scope holds now; null: it was never listed.
  [[nodiscard]] const Objects* objects(const std::string& scope) const;

  std::vector<std::string> unexpected;  // requests that the recording does not have
  int renewals = 0;                     // of the agent's lease

 private:
  friend class UpstreamWatch;
  struct Scope {
    sync::ListHead head;
    Objects objects;
    std::string version;        // of the newest list or event; empty: none has been recorded yet
    std::vector<Frame> frames;  // that came, in order
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
  const Recording& recording_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
  loop::Event changed_;
  const Exchange* now_ = nullptr;
  std::map<std::string, Scope> scopes_;
  std::map<int, std::size_t> taken_;  // frames of the watch on that line
};

}  // namespace holdfast::agent::replay
