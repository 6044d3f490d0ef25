// The node's registration and lease while the API server refuses them: tried again ever more
// slowly, and soon again as usual once they are granted.

#include <gtest/gtest.h>

#include <utility>

#include "agent/node/lease_renewer.h"
#include "agent/node/node_reporter.h"
#include "platform/loop/tasks.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::node::heartbeats {
namespace {

using namespace std::chrono_literals;

// Refuses everything with `refusal`, or grants it.
class Refusing final : public ApiCaller {
 public:
  asio::awaitable<Result<std::string>> call(ApiRequest request, MonoTime /*deadline*/) override {
    if (request.method == http::Method::post ||
        request.target.find("/leases/") != request.target.npos)
      ++asked;
    if (refusal) co_return fail(*refusal, "refused");
    if (request.method == http::Method::get) co_return fail(Errc::not_found, "none");
    co_return request.body;
  }

  std::optional<Errc> refusal;
  int asked = 0;  // registrations and requests for the lease
};

constexpr Errc all[] = {Errc::denied,      Errc::conflict, Errc::invalid, Errc::exhausted,
                        Errc::unavailable, Errc::timeout,  Errc::corrupt};

struct Counts {
  int refused;
  int granted;
};
// Counts the requests of ten minutes in which everything is refused, and of 8 s in which it is
// granted.
Counts run_refused(holdfast::test::VirtualTime& time, Refusing& server, Errc refusal) {
  server.refusal = refusal;
  time.run(10min);
  const int refused = std::exchange(server.asked, 0);
  server.refusal.reset();
  time.run(8s);
  return {refused, server.asked};
}

TEST(Heartbeats, ARefusedLeaseIsTriedEverySevenSeconds) {
  for (const Errc refusal : all) {
    holdfast::test::VirtualTime time;
    Refusing server;
    LeaseRenewer renewer({.node_name = "n"}, server, time.clock());
    loop::Tasks tasks(time.executor());
    tasks.spawn("lease", renewer.run());
    const Counts asked = run_refused(time, server, refusal);
    EXPECT_LE(asked.refused, 92);
    EXPECT_GE(asked.refused, 80);
    EXPECT_EQ(asked.granted, 2) << "a read, and the creation";
    time.run(1min);
    EXPECT_LE(server.asked, 20) << "every 10 s again";
    tasks.cancel();
    time.finish();
  }
}

TEST(Heartbeats, ARefusedRegistrationIsTriedEverySevenSeconds) {
  for (const Errc refusal : all) {
    if (refusal == Errc::conflict) continue;  // the Node exists already
    holdfast::test::VirtualTime time;
    Refusing server;
    sync::Node node;
    node.metadata.name = "n";
    const NoPressure pressure;
    NodeReporter reporter(node, 1min, server, pressure, time.clock());
    loop::Tasks tasks(time.executor());
    tasks.spawn("reporter", reporter.run());
    const Counts asked = run_refused(time, server, refusal);
    EXPECT_LE(asked.refused, 92);
    EXPECT_GE(asked.refused, 80);
    EXPECT_GE(asked.granted, 1);
    tasks.cancel();
    time.finish();
  }
}

}  // namespace
}  // namespace holdfast::agent::node::heartbeats
