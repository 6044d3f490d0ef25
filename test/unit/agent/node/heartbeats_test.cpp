// The node's registration and lease while the API server refuses them: tried again ever more
// slowly, and soon again as usual once they are granted.

#include <gtest/gtest.h>

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

TEST(Heartbeats, ARefusedLeaseIsTriedEverySevenSeconds) {
  for (const Errc refusal : all) {
    holdfast::test::VirtualTime time;
    Refusing server;
    server.refusal = refusal;
    LeaseRenewer renewer({.node_name = "n"}, server, time.clock());
    loop::Tasks tasks(time.executor());
    tasks.spawn("lease", renewer.run());
    time.run(10min);
    EXPECT_LE(server.asked, 92);
    EXPECT_GE(server.asked, 80);
    server.refusal.reset();
    server.asked = 0;
    time.run(8s);
    EXPECT_EQ(server.asked, 2) << "a read, and the creation";
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
    server.refusal = refusal;
    sync::Node node;
    node.metadata.name = "n";
    const NoPressure pressure;
    NodeReporter reporter(node, 1min, server, pressure, time.clock());
    loop::Tasks tasks(time.executor());
    tasks.spawn("reporter", reporter.run());
    time.run(10min);
    EXPECT_LE(server.asked, 92);
    EXPECT_GE(server.asked, 80);
    server.refusal.reset();
    server.asked = 0;
    time.run(8s);
    EXPECT_GE(server.asked, 1);
    tasks.cancel();
    time.finish();
  }
}

}  // namespace
}  // namespace holdfast::agent::node::heartbeats
