// Nodes that exist only as objects and lease renewals: the load under which a controller is
// measured, and a watcher that sees how the controller marks the silent ones.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/client/list_watch.h"
#include "agent/cloud/feed.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/random.h"

namespace holdfast::bench {

namespace asio = boost::asio;

struct FleetSize {
  int nodes = 0;
  int pods = 0;
  int silent = 0;  // how many nodes go silent together
};

class Fleet final : public agent::ListWatchSource {
 public:
  // `port`: of an API server on loopback, over plain HTTP.
  Fleet(asio::any_io_executor executor, std::uint16_t port, FleetSize size);

  // Creates all objects. Errors: those of the server.
  asio::awaitable<Status> create();

  // Until stop(), every node renews its lease each ten seconds; the renewals are evenly spread.
  void start();
  asio::awaitable<void> stop();

  // The silent nodes renew once more, all together, and never again. Returns the time when that was
  // done.
  asio::awaitable<MonoTime> silence();

  // When a watcher saw the first node Unknown, the last node Unknown, and the last node that also
  // has its NoSchedule taint.
  struct Marked {
    MonoTime first = MonoTime::max();
    MonoTime last_status = MonoTime::max();
    MonoTime last_taint = MonoTime::max();
    Duration longest_untainted{};  // of one node: from its status to its taint
  };
  // Errors: timeout, with the number of nodes that were marked.
  asio::awaitable<Result<Marked>> wait_until_marked(MonoTime deadline);

  // Lease renewals that succeeded, and those that failed.
  [[nodiscard]] int renewals() const { return renewals_; }
  [[nodiscard]] int failures() const { return failures_; }

  asio::awaitable<Result<http::Response>> send(agent::ApiRequest request, bool streamed) override;

 private:
  static constexpr int connections = 4;

  asio::awaitable<Status> post(http::Client& client, std::string target, std::string body);
  asio::awaitable<void> create_share(int share, Status& outcome);
  asio::awaitable<Status> create_one_by_one(int share);
  asio::awaitable<void> renew_share(int share);
  asio::awaitable<void> renew_silent(int share);
  asio::awaitable<void> renew(http::Client& client, int number);
  asio::awaitable<void> look();
  void see(const sync::Node& node);

  FleetSize size_;
  asio::any_io_executor executor_;
  std::vector<std::unique_ptr<http::Client>> clients_;
  std::unique_ptr<http::Client> watcher_;
  SystemClock clock_;
  Random random_{1};
  agent::Feed<sync::Node> feed_;
  bool silenced_ = false;
  int renewals_ = 0;
  int failures_ = 0;
  std::map<std::string, MonoTime> unknown_;  // node name -> when it was seen Unknown
  std::set<std::string> tainted_;
  Marked when_;
  loop::Event all_marked_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::bench
