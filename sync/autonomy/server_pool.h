// Decides which of several API servers is asked next, from what happened to those before.
//
// One failure takes a server out of rotation; a probe of its own, with back-off and jitter, brings
// it back. While none is in rotation all are asked in turn: whether the cloud is there at all is
// the Link's question, and with one server the only one. Pure; `now` must not run backwards.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/random.h"
#include "platform/time.h"
#include "sync/autonomy/link.h"

namespace holdfast::sync {

// OpenYurt's names: round robin, or the first one that is well.
enum class LbMode : std::uint8_t { rr, priority };

[[nodiscard]] std::optional<LbMode> parse_lb_mode(std::string_view text);

struct RotaConfig {
  LbMode mode = LbMode::rr;
  Duration probe_backoff_min = 1s;  // of a server that is out, before jitter
  Duration probe_backoff_max = 30s;
};

enum class ServerHealth : std::uint8_t { untried, healthy, failed };

[[nodiscard]] std::string_view to_string(ServerHealth health);

class ServerPool {
 public:
  struct Server {
    ServerHealth health = ServerHealth::untried;
    MonoTime since{};    // of the health
    std::string reason;  // of the last thing heard: "answered 200"
    MonoTime probe_due = MonoTime::max();
    Duration backoff{};
  };

  // `servers` is at least 1; in the order of preference. The Random outlives it.
  ServerPool(const RotaConfig& config, std::size_t servers, Random& random, MonoTime now);

  // For the next request; not `but`, when there is another one.
  [[nodiscard]] std::size_t next(std::optional<std::size_t> but = {});

  // Takes the outcome of a request to `server` that began at `began`; true when its health changed.
  // Old news (began before that health) is not believed. An overloaded server stays as it is.
  bool record(MonoTime now, MonoTime began, std::size_t server, Evidence evidence,
              std::string_view reason);

  [[nodiscard]] bool any_in_rotation() const;
  [[nodiscard]] std::size_t size() const { return servers_.size(); }
  [[nodiscard]] const Server& at(std::size_t server) const { return servers_.at(server); }

  // When the next server that is out is to be probed; MonoTime::max(): none, or it is the Link's
  // turn, because none is in rotation.
  [[nodiscard]] MonoTime probe_due() const;
  // The server whose probe is due; its next one is planned. Nothing: none is.
  [[nodiscard]] std::optional<std::size_t> take_probe(MonoTime now);

 private:
  void plan_probe(MonoTime now, Server& server);

  RotaConfig config_;
  Random& random_;
  std::vector<Server> servers_;
  std::size_t last_ = 0;  // the server that was asked last
};

}  // namespace holdfast::sync
