// The HTTP requests of a node to the modelled API server, over its link.

#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "agent/lab/sim/network.h"
#include "agent/lab/sim/server.h"
#include "platform/result.h"
#include "sync/autonomy/link.h"

namespace holdfast::agent::lab::sim {

enum class RequestKind : std::uint8_t {
  lease,
  node_status,
  pod_status,
  list,
  watch,
  removal,
  other
};
inline constexpr std::size_t request_kinds = 7;
[[nodiscard]] std::string_view to_string(RequestKind kind);

struct Request {
  RequestKind kind = RequestKind::other;
  std::string verb;  // the HTTP method
  std::string path = {};
  std::string content_type = {};
  std::string body = {};
};

struct Answer {
  int status = 0;  // 0: there was none
  std::string body = {};
  std::string why = {};       // if there was none
  Errc code = Errc::timeout;  // likewise

  [[nodiscard]] bool is_ok() const { return status >= 200 && status < 300; }
};
using Done = std::function<void(const Answer&)>;

// The requests that have arrived at the API server.
class Traffic {
 public:
  // Also counts the requests of each `interval`.
  explicit Traffic(Engine& engine, Duration interval = std::chrono::minutes(1))
      : engine_(engine), interval_(interval) {}

  void note(RequestKind kind, std::size_t bytes);

  struct Count {
    std::uint64_t requests = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] const Count& of(RequestKind kind) const {
    return counts_[static_cast<std::size_t>(kind)];
  }
  // The largest number counts from now on.
  void restart_maximum() { most_per_second_ = 0; }
  // The largest number of requests that arrived within one second.
  [[nodiscard]] std::uint64_t most_per_second() const { return most_per_second_; }
  [[nodiscard]] Duration interval() const { return interval_; }
  [[nodiscard]] const std::vector<std::uint64_t>& per_interval() const { return per_interval_; }

 private:
  Engine& engine_;
  Duration interval_;
  std::array<Count, request_kinds> counts_{};
  std::vector<std::uint64_t> per_interval_;
  std::int64_t second_ = -1;
  std::uint64_t in_second_ = 0;
  std::uint64_t most_per_second_ = 0;
};

// The API server's answer to a request for nodes, pods, leases or events in JSON.
[[nodiscard]] Answer serve(Server& server, const Request& request, Actor by);

// A list of the pods of a node or of its Node, as `items` of a list in JSON.
enum class ScopeOf : std::uint8_t { pods, node };
[[nodiscard]] std::vector<std::string> list_items(const Server& server, const std::string& node,
                                                  ScopeOf scope);

// The client of one node.
class NodeClient {
 public:
  NodeClient(Engine& engine, Server& server, Traffic& traffic, Link& link, Actor actor)
      : engine_(engine), server_(server), traffic_(traffic), link_(link), actor_(actor) {}

  // `done` is called once, after `limit` at the latest, unless `life` ends before.
  void send(const Life& life, Request request, Duration limit, Done done);
  // The same for a request that `serve` answers.
  void call(const Life& life, RequestKind kind, std::size_t bytes, Duration limit,
            std::function<Answer()> serve, Done done);

  struct WatchHandlers {
    Task opened;
    std::function<void(const Change&)> changed;
    std::function<void(std::uint64_t version)> bookmark;
    Task ended;
    std::function<void(const Answer&)> failed;
  };
  // Opens a watch. It ends with ended() or failed(), or when the returned connection is closed.
  [[nodiscard]] Link::ConnectionPtr watch(const Life& life, const std::string& node, ScopeOf scope,
                                          std::uint64_t version, Duration timeout,
                                          WatchHandlers handlers);

  [[nodiscard]] Link& link() { return link_; }
  [[nodiscard]] Server& server() { return server_; }

 private:
  [[nodiscard]] Answer answer(const std::function<Answer()>& serve);

  Engine& engine_;
  Server& server_;
  Traffic& traffic_;
  Link& link_;
  Actor actor_;
};

}  // namespace holdfast::agent::lab::sim
