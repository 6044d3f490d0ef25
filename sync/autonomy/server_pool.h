// Selects one of several API servers for each request, from the outcomes of earlier requests.
//
// One failure takes a server out of rotation. Probes of its own, with backoff and jitter, bring it
// back. While no server is in rotation, all of them are tried in turn and the Link alone decides
// whether the cloud is reachable. Pure; `now` must not run backwards.

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
#include "sync/pacing/monotonic.h"

namespace holdfast::sync::autonomy {

// OpenYurt's names: round robin, or the first server that is not failed.
enum class LbMode : std::uint8_t { rr, priority };

[[nodiscard]] std::optional<LbMode> parse_lb_mode(std::string_view text);

struct ServerPoolConfig {
  LbMode mode = LbMode::rr;
  // Of a server out of rotation, before jitter; doubled after each probe.
  Duration probe_backoff_min = 1s;
  Duration probe_backoff_max = 30s;
};

enum class ServerHealth : std::uint8_t { untried, healthy, failed };

[[nodiscard]] std::string_view to_string(ServerHealth health);

class ServerPool {
 public:
  struct Server {
    ServerHealth health = ServerHealth::untried;
    MonoTime since{};    // when `health` was entered
    std::string reason;  // the outcome of the last request, such as "answered 200"
    MonoTime probe_due = MonoTime::max();
    Duration backoff{};
  };

  // `servers` is the number of servers, at least 1; they are numbered from 0 in order of
  // preference. `random` must outlive the pool.
  ServerPool(const ServerPoolConfig& config, std::size_t servers, Random& random, MonoTime now);

  // The server for the next request; not `but` if there is another one.
  [[nodiscard]] std::size_t next(std::optional<std::size_t> but = {});

  // Records the outcome of a request to `server` that began at `began`; returns true when the
  // server's health changed. An outcome that is older than the current health is ignored, and
  // `overloaded` does not change the health.
  bool record(MonoTime now, MonoTime began, std::size_t server, Evidence evidence,
              std::string_view reason);

  [[nodiscard]] bool any_in_rotation() const;
  [[nodiscard]] std::size_t size() const { return servers_.size(); }
  [[nodiscard]] const Server& at(std::size_t server) const { return servers_.at(server); }

  // When the next probe of a failed server is due; MonoTime::max() if there is none, or if no
  // server is in rotation (then the Link sends the probes).
  [[nodiscard]] MonoTime probe_due() const;
  // The server whose probe is due, after scheduling its next one; std::nullopt: none is due.
  [[nodiscard]] std::optional<std::size_t> take_probe(MonoTime now);

 private:
  void plan_probe(MonoTime now, Server& server);

  ServerPoolConfig config_;
  Random& random_;
  pacing::Monotonic monotonic_;
  std::vector<Server> servers_;
  std::size_t last_ = 0;  // the server that next() returned last
};

}  // namespace holdfast::sync::autonomy
