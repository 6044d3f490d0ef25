// The machine of the uplink: what each way in which a request may end means for the link, the
// servers and the outage.

#include "sync/autonomy/uplink.h"

#include <gtest/gtest.h>

namespace holdfast::sync::autonomy::uplink_tests {
namespace {

using namespace std::chrono_literals;

std::string text_of(const uplink::Effects& effects) {
  struct {
    std::string operator()(const uplink::WakeLink&) const { return "wake link"; }
    std::string operator()(const uplink::WakeServers&) const { return "wake servers"; }
    std::string operator()(const uplink::Prefer& prefer) const {
      return "prefer " + std::to_string(prefer.server);
    }
    std::string operator()(const uplink::Sever& sever) const {
      return "sever " + std::to_string(sever.server);
    }
    std::string operator()(const uplink::ForgetConnections&) const { return "forget"; }
    std::string operator()(const uplink::RenewCredentials&) const { return "renew credentials"; }
    std::string operator()(const uplink::ReportHealth& report) const {
      return "health " + std::to_string(report.server);
    }
    std::string operator()(const uplink::ReportTime& report) const {
      return "time " + std::to_string(report.server);
    }
  } const name;
  std::string text;
  for (const uplink::Effect& effect : effects) {
    text += (text.empty() ? "" : ", ") + std::visit(name, effect);
  }
  return text;
}

// How a request ended, in a table.
struct End {
  std::optional<int> status = {};
  Errc error = Errc::unavailable;
  Duration limit = 5s;
  bool is_heartbeat = false;
  bool is_foreign = false;  // it had the credentials of its caller
  bool is_for_page = false;
  bool waits_for_others = false;
  bool is_from_stranger = false;
  bool was_held = false;
  std::uint64_t received_meanwhile = 0;
};

// A machine with so many servers that all have answered.
class Site {
 public:
  explicit Site(std::size_t servers) : machine({}, servers, random_, now_) {
    for (std::size_t i = 0; i < servers; ++i) (void)end(i, {.status = 200, .is_heartbeat = true});
    if (machine.link().state() == LinkState::rejoining) (void)step(uplink::Rejoined{});
  }

  // A request to this server began, took so long and ended.
  std::string end(std::size_t server, const End& how, Duration took = 10ms) {
    const MonoTime began = now_;
    now_ += took;
    return step(uplink::Ended{.request = {.began = began,
                                          .server = server,
                                          .limit = how.limit,
                                          .is_heartbeat = how.is_heartbeat,
                                          .has_own_credentials = !how.is_foreign,
                                          .is_for_document = !how.is_for_page,
                                          .timeout_is_evidence = !how.waits_for_others},
                              .status = how.status,
                              .error = {how.error, "why"},
                              .is_from_stranger = how.is_from_stranger,
                              .was_held = how.was_held,
                              .received_meanwhile = how.received_meanwhile});
  }
  std::string step(const uplink::Input& input) {
    now_ += 1ms;
    std::string effects = text_of(machine.step(now_, input));
    (void)machine.outage().take(now_);
    return effects;
  }
  [[nodiscard]] std::string state() const { return std::string(to_string(machine.link().state())); }
  [[nodiscard]] std::string fault() const {
    return machine.fault() ? std::string(to_string(*machine.fault())) : "none";
  }
  [[nodiscard]] std::string health(std::size_t server) const {
    return std::string(to_string(machine.servers().at(server).health));
  }

 private:
  Random random_{1};
  MonoTime now_{1h};

 public:
  UplinkMachine machine;
};

TEST(UplinkMachine, JudgesEachEndOfARequest) {
  const struct {
    std::string_view what;
    End end;
    std::string_view effects;
    std::string_view state;
    std::string_view fault;
  } rows[] = {
      {"an answer", {.status = 200}, "prefer 0", "connected", "none"},
      {"not found", {.status = 404}, "prefer 0", "connected", "none"},
      {"a caller's credentials refused",
       {.status = 401, .is_foreign = true},
       "prefer 0",
       "connected",
       "none"},
      {"the node's refused",
       {.status = 401},
       "wake servers, renew credentials, forget, wake link",
       "suspect",
       "credentials"},
      {"overloaded", {.status = 503}, "", "connected", "overloaded"},
      {"too many requests", {.status = 429}, "", "connected", "overloaded"},
      {"broken", {}, "wake servers, forget, wake link", "suspect", "reset"},
      {"cancelled", {.error = Errc::cancelled}, "", "connected", "none"},
      {"a limit of our own", {.error = Errc::exhausted}, "", "connected", "none"},
      {"timeout",
       {.error = Errc::timeout},
       "wake servers, forget, wake link",
       "suspect",
       "timeout"},
      {"timeout of a heartbeat",
       {.error = Errc::timeout, .limit = 1ms, .is_heartbeat = true},
       "wake servers, forget, wake link",
       "suspect",
       "timeout"},
      {"timeout before a heartbeat's",
       {.error = Errc::timeout, .limit = 1ms},
       "wake link",
       "connected",
       "none"},
      {"timeout of what waits for others",
       {.error = Errc::timeout, .waits_for_others = true},
       "",
       "connected",
       "none"},
      {"timeout while others arrive",
       {.error = Errc::timeout, .received_meanwhile = 8UL << 10},
       "wake link",
       "connected",
       "none"},
      {"timeout while events arrive",
       {.error = Errc::timeout, .received_meanwhile = 1000},
       "wake servers, forget, wake link",
       "suspect",
       "timeout"},
      {"a portal instead of an object",
       {.error = Errc::corrupt, .is_from_stranger = true},
       "wake servers, forget, wake link",
       "suspect",
       "not_api_server"},
      {"a page where pages may be",
       {.error = Errc::corrupt, .is_for_page = true, .is_from_stranger = true},
       "wake link",
       "connected",
       "none"},
      {"held back", {.was_held = true}, "forget, wake link", "suspect", "reset"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    Site site(1);
    ASSERT_EQ(site.state(), "connected");
    EXPECT_EQ(site.end(0, row.end), row.effects);
    EXPECT_EQ(site.state(), row.state);
    EXPECT_EQ(site.fault(), row.fault);
  }
}

TEST(UplinkMachine, TwoFailuresAreAnOutageAndAnAnswerEndsIt) {
  Site site(1);
  EXPECT_EQ(site.end(0, {.error = Errc::timeout}), "wake servers, forget, wake link");
  EXPECT_EQ(site.step(uplink::ProbeBegins{}), "");
  EXPECT_EQ(site.end(0, {.error = Errc::timeout, .is_heartbeat = true}, 1s), "forget, wake link");
  EXPECT_EQ(site.state(), "offline");
  EXPECT_TRUE(site.machine.outage().began());
  EXPECT_EQ(site.step(uplink::ProbeBegins{}), "forget");
  EXPECT_EQ(site.end(0, {.status = 200, .is_heartbeat = true}),
            "prefer 0, wake servers, wake link");
  EXPECT_EQ(site.state(), "rejoining");
  EXPECT_EQ(site.step(uplink::RejoinFailed{{Errc::unavailable, "replay: broken"}}),
            "forget, wake link");
  EXPECT_EQ(site.state(), "offline");
  EXPECT_EQ(site.machine.outage().fault(), LinkFault::other);
  EXPECT_EQ(site.step(uplink::NetworkBetter{}), "wake link");
  EXPECT_EQ(site.machine.network_changes(), 1U);
  EXPECT_EQ(site.end(0, {.status = 200, .is_heartbeat = true}), "prefer 0, wake link");
  EXPECT_EQ(site.step(uplink::Rejoined{}), "wake link");
  EXPECT_EQ(site.state(), "connected");
  EXPECT_FALSE(site.machine.outage().began());
  EXPECT_EQ(site.machine.faults()[static_cast<std::size_t>(LinkFault::timeout)], 2U);
}

TEST(UplinkMachine, TheLinkIsAsGoodAsTheBestServer) {
  Site site(2);
  EXPECT_EQ(site.machine.next_server(0, 1), std::nullopt) << "it has not failed";
  EXPECT_EQ(site.end(0, {}), "wake servers, health 0, sever 0");
  EXPECT_EQ(site.state(), "connected");
  EXPECT_EQ(site.machine.next_server(0, 1), 1U);
  EXPECT_EQ(site.machine.next_server(0, 2), std::nullopt) << "all were asked";
  EXPECT_TRUE(site.machine.may_succeed_elsewhere({Errc::timeout, "why"}));
  EXPECT_FALSE(site.machine.may_succeed_elsewhere({Errc::invalid, "why"}));

  EXPECT_EQ(site.end(1, {}), "wake servers, health 1, sever 1, forget, wake link");
  EXPECT_EQ(site.state(), "suspect");
  EXPECT_FALSE(site.machine.may_succeed_elsewhere({Errc::timeout, "why"}));
  EXPECT_EQ(site.health(0), "failed");

  EXPECT_EQ(site.end(1, {.status = 200}), "prefer 1, wake servers, health 1, wake link");
  EXPECT_EQ(site.state(), "connected");
  EXPECT_EQ(site.health(1), "healthy");
}

TEST(UplinkMachine, CredentialsAreRenewedOnceNoServerAcceptsThem) {
  Site site(2);
  EXPECT_EQ(site.end(0, {.status = 401}), "wake servers, health 0, sever 0");
  EXPECT_EQ(site.end(1, {.status = 401}),
            "wake servers, health 1, sever 1, renew credentials, forget, wake link");
  EXPECT_EQ(site.machine.link().reason(), uplink::rejected);
}

TEST(UplinkMachine, TwoLateHeartbeatsAreReportedAndOneInTime) {
  Site site(1);
  const End heartbeat{.status = 200, .is_heartbeat = true};
  EXPECT_EQ(site.end(0, heartbeat, 2500ms), "prefer 0");
  EXPECT_EQ(site.end(0, {.status = 200}, 2500ms), "prefer 0") << "only heartbeats are measured";
  EXPECT_EQ(site.end(0, heartbeat, 2500ms), "time 0, prefer 0");
  EXPECT_TRUE(site.machine.path(0).answers_late());
  EXPECT_EQ(site.end(0, heartbeat, 2500ms), "prefer 0");
  EXPECT_EQ(site.end(0, heartbeat), "time 0, prefer 0");
  EXPECT_FALSE(site.machine.path(0).answers_late());
}

TEST(UplinkMachine, AWriteThatWasAcceptedLeadsThroughARejoin) {
  Site site(1);
  (void)site.end(0, {});
  EXPECT_EQ(site.step(uplink::WriteAccepted{}), "");
  (void)site.end(0, {.status = 200});
  EXPECT_EQ(site.state(), "rejoining");
  Site without(1);
  (void)without.end(0, {});
  (void)without.end(0, {.status = 200});
  EXPECT_EQ(without.state(), "connected");
}

TEST(UplinkMachine, OurOwnDiskIsAFaultOfItsOwn) {
  Site site(1);
  (void)site.end(0, {});
  (void)site.end(0, {});
  (void)site.end(0, {.status = 200, .is_heartbeat = true});
  ASSERT_EQ(site.state(), "rejoining");
  class Sqlite final : public std::error_category {
   public:
    [[nodiscard]] const char* name() const noexcept override { return "sqlite"; }
    [[nodiscard]] std::string message(int) const override { return "disk I/O error"; }
  };
  static const Sqlite sqlite;
  (void)site.step(uplink::RejoinFailed{{Errc::unavailable, "outbox", {10, sqlite}}});
  EXPECT_EQ(site.machine.outage().fault(), LinkFault::disk);
}

}  // namespace
}  // namespace holdfast::sync::autonomy::uplink_tests
