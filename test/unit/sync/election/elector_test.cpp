// The elector, input by input: its requests, and the exact texts.

#include "sync/election/elector.h"

#include "test/unit/sync/election/election_simulation.h"

namespace holdfast::sync::election {
namespace {

using namespace election;  // NOLINT(google-build-using-namespace)

constexpr MonoTime start{1h};
const WallTime noon{std::chrono::seconds(1'420'113'600)};

Lease lease_of(std::string holder, std::string version, int seconds = 15, int transitions = 3) {
  Lease lease;
  lease.metadata.name = "l";
  lease.metadata.namespace_name = "kube-system";
  lease.metadata.resource_version = std::move(version);
  lease.metadata.labels.set("keep", "me");
  lease.spec.holder_identity = std::move(holder);
  lease.spec.lease_duration_seconds = seconds;
  lease.spec.lease_transitions = transitions;
  lease.spec.acquire_time = noon - 1h;
  lease.spec.renew_time = noon - 1h;
  return lease;
}

template <class T>
const T& only(const Actions& actions) {
  EXPECT_EQ(actions.size(), 1u);
  return std::get<T>(actions.at(0));
}

// An elector that has just become leader, with a lease of version 1.
class Led {
 public:
  Led() : random_(1), elector(config_of("a"), random_) {
    (void)elector.step(start, noon, Started{});
    const Actions made = elector.step(start, noon, Missing{});
    lease = std::get<Create>(made.at(0)).lease;
    lease.metadata.resource_version = "1";
    EXPECT_EQ(only<BecameLeader>(elector.step(start, noon, Written{lease})), BecameLeader{});
  }

 private:
  Random random_;

 public:
  Elector elector;
  Lease lease;
};

TEST(Elector, MakesTheLeaseWhenThereIsNone) {
  Random random(1);
  Elector elector(config_of("a"), random);
  EXPECT_EQ(only<Read>(elector.step(start, noon, Started{})).deadline, start + 5s);
  const Actions made = elector.step(start, noon + 1500ns, Missing{});
  const Lease lease = only<Create>(made).lease;
  EXPECT_EQ(lease.metadata.name, "l");
  EXPECT_EQ(lease.metadata.namespace_name, "kube-system");
  EXPECT_EQ(lease.spec.holder_identity, "a");
  EXPECT_EQ(lease.spec.lease_duration_seconds, 15);
  EXPECT_EQ(lease.spec.lease_transitions, 0);
  EXPECT_EQ(lease.spec.acquire_time, noon + 1us) << "to the microsecond";
  EXPECT_EQ(lease.spec.renew_time, noon + 1us);
  EXPECT_EQ(elector.may_act_until(), MonoTime::min());
  (void)elector.step(start + 3s, noon, Written{lease});
  EXPECT_TRUE(elector.leads());
  EXPECT_EQ(elector.may_act_until(), start + 10s) << "counted from when the request was sent";
}

TEST(Elector, RenewsWithoutReading) {
  Led led;
  EXPECT_EQ(led.elector.deadline(), start) << "renews at once, as client-go does";
  const Actions first = led.elector.step(start, noon, TimePassed{});
  Lease lease = only<Update>(first).lease;
  EXPECT_EQ(lease.metadata.resource_version, "1");
  lease.metadata.resource_version = "2";
  EXPECT_TRUE(led.elector.step(start + 100ms, noon, Written{lease}).empty());
  EXPECT_EQ(led.elector.deadline(), start + 2100ms);
  const Actions next = led.elector.step(start + 2100ms, noon + 2s, TimePassed{});
  const Update& update = only<Update>(next);
  EXPECT_EQ(update.lease.metadata.resource_version, "2");
  EXPECT_EQ(update.lease.spec.renew_time, noon + 2s);
  EXPECT_EQ(update.lease.spec.acquire_time, noon);
  EXPECT_EQ(update.lease.spec.lease_transitions, 0);
  EXPECT_EQ(update.deadline, start + 2100ms + 5s);
  EXPECT_EQ(led.elector.may_act_until(), start + 10s);
}

TEST(Elector, TakesWhatNobodyHoldsAndKeepsWhatIsNotItsOwn) {
  Random random(1);
  Elector elector(config_of("a"), random);
  (void)elector.step(start, noon, Started{});
  const Actions found = elector.step(start, noon, Found{lease_of("", "7", 1)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(std::get<SawLeader>(found[0]).identity, "");
  const Lease& lease = std::get<Update>(found[1]).lease;
  EXPECT_EQ(lease.metadata.resource_version, "7");
  EXPECT_EQ(lease.metadata.labels.get("keep"), "me");
  EXPECT_EQ(lease.spec.holder_identity, "a");
  EXPECT_EQ(lease.spec.lease_duration_seconds, 15);
  EXPECT_EQ(lease.spec.lease_transitions, 4);
  EXPECT_EQ(lease.spec.acquire_time, noon);
}

// The times in the lease are an hour old. What counts is the local clock since the last change.
TEST(Elector, AHeldLeaseIsJudgedByOurOwnClock) {
  Random random(1);
  Elector elector(config_of("a"), random);
  (void)elector.step(start, noon, Started{});
  const Actions held = elector.step(start, noon, Found{lease_of("b", "7")});
  EXPECT_EQ(only<SawLeader>(held).identity, "b");
  EXPECT_GE(elector.deadline(), start + 2s);
  EXPECT_LE(elector.deadline(), start + 4400ms) << "with client-go's jitter";
  (void)elector.step(start + 14s, noon, TimePassed{});
  EXPECT_TRUE(elector.step(start + 14s, noon, Found{lease_of("b", "8")}).empty())
      << "another version, but the same record";
  (void)elector.step(start + 20s, noon, TimePassed{});
  const Actions free = elector.step(start + 20s, noon, Found{lease_of("b", "8")});
  EXPECT_EQ(only<Update>(free).lease.spec.lease_transitions, 4);
}

TEST(Elector, AChangeBeginsTheWaitAgain) {
  Random random(1);
  Elector elector(config_of("a"), random);
  (void)elector.step(start, noon, Started{});
  (void)elector.step(start, noon, Found{lease_of("b", "7")});
  (void)elector.step(start + 14s, noon, TimePassed{});
  Lease renewed = lease_of("b", "8");
  renewed.spec.renew_time = noon - 59min;
  EXPECT_TRUE(elector.step(start + 14s, noon, Found{renewed}).empty());
  (void)elector.step(start + 28s, noon, TimePassed{});
  EXPECT_TRUE(elector.step(start + 28s, noon, Found{renewed}).empty());
  (void)elector.step(start + 33s, noon, TimePassed{});
  EXPECT_EQ(elector.step(start + 33s, noon, Found{renewed}).size(), 1u);
}

TEST(Elector, AConflictIsReadAgain) {
  Led led;
  (void)led.elector.step(start, noon, TimePassed{});
  const Actions again = led.elector.step(start, noon, Failed{{Errc::conflict, "changed"}});
  EXPECT_EQ(again.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Read>(again[0]));
  Lease touched = led.lease;
  touched.metadata.resource_version = "9";
  touched.metadata.labels.set("by", "kubectl");
  const Actions update = led.elector.step(start, noon, Found{touched});
  EXPECT_EQ(only<Update>(update).lease.metadata.resource_version, "9");
  EXPECT_EQ(only<Update>(update).lease.metadata.labels.get("by"), "kubectl");
}

TEST(Elector, ALeaderWhoSeesAnotherHolderStopsAtOnce) {
  const struct {
    const char* holder;
    const char* why;
  } rows[] = {{"b", "the lease is held by b"},
              {"", "another client cleared the holder of the lease"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.why);
    Led led;
    (void)led.elector.step(start, noon, TimePassed{});
    (void)led.elector.step(start, noon, Failed{{Errc::conflict, "changed"}});
    const Actions lost = led.elector.step(start, noon, Found{lease_of(row.holder, "9")});
    EXPECT_EQ(only<LostLeadership>(lost).why, row.why);
    EXPECT_EQ(led.elector.may_act_until(), MonoTime::min());
    EXPECT_EQ(led.elector.deadline(), MonoTime::max());
  }
}

// Versions count all changes of a cluster, so the lease's can only be lower if the data is older.
TEST(Elector, OlderDataEndsALeader) {
  const Failed conflict{{Errc::conflict, "changed"}};
  const std::string why =
      "the API server's versions went back from 900 to 120: its data was replaced by older data";
  for (const bool has_lease : {true, false}) {
    SCOPED_TRACE(has_lease);
    Led led;
    (void)led.elector.step(start, noon, TimePassed{});
    (void)led.elector.step(start, noon, Written{lease_of("a", "900")});
    (void)led.elector.step(start + 2s, noon, TimePassed{});
    (void)led.elector.step(start + 2s, noon, conflict);
    Actions last;
    if (has_lease) {
      last = led.elector.step(start + 2s, noon, Found{lease_of("a", "120")});
    } else {
      (void)led.elector.step(start + 2s, noon, Missing{});
      last = led.elector.step(start + 2s, noon, Written{lease_of("a", "120")});
    }
    EXPECT_EQ(only<DataReplaced>(last).why, why);
    EXPECT_EQ(led.elector.may_act_until(), MonoTime::min());
    EXPECT_EQ(led.elector.deadline(), MonoTime::max());
  }
}

TEST(Elector, OlderDataEndsAFollower) {
  Random random(1);
  Elector elector(config_of("a"), random);
  (void)elector.step(start, noon, Started{});
  (void)elector.step(start, noon, Found{lease_of("b", "900")});
  const MonoTime later = elector.deadline();
  (void)elector.step(later, noon, TimePassed{});
  // The same version is no news.
  EXPECT_TRUE(elector.step(later, noon, Found{lease_of("b", "900")}).empty());
  const MonoTime last = elector.deadline();
  (void)elector.step(last, noon, TimePassed{});
  EXPECT_EQ(only<DataReplaced>(elector.step(last, noon, Found{lease_of("b", "120")})).why,
            "the API server's versions went back from 900 to 120: its data was replaced by older "
            "data");
  EXPECT_EQ(elector.deadline(), MonoTime::max());
}

// A server whose versions are no numbers is not judged by them.
TEST(Elector, VersionsThatAreNoNumbersDoNotEndIt) {
  Led led;
  MonoTime now = start;
  for (const char* version : {"zz", "900", "aa", "", "901"}) {
    (void)led.elector.step(now, noon, TimePassed{});
    (void)led.elector.step(now, noon, Written{lease_of("a", version)});
    EXPECT_TRUE(led.elector.leads()) << version;
    now += 2s;
  }
}

TEST(Elector, GivesUpAtTheRenewDeadline) {
  Led led;
  MonoTime now = start;
  std::string why;
  while (why.empty() && now < start + 1min) {
    Actions actions = led.elector.step(now, noon, TimePassed{});
    while (!actions.empty() && why.empty()) {
      const Action last = actions.back();
      if (const auto* lost = std::get_if<LostLeadership>(&last)) why = lost->why;
      if (!std::holds_alternative<Update>(last) && !std::holds_alternative<Read>(last)) break;
      actions = led.elector.step(now, noon, Failed{{Errc::unavailable, "refused"}});
    }
    now = std::max(now + 1ms, std::min(led.elector.deadline(), now + 1s));
  }
  EXPECT_TRUE(why.starts_with("not renewed within 10s")) << why;
  EXPECT_LE(now, start + 11s);
}

TEST(Elector, ARequestThatHangsDoesNotKeepTheLead) {
  Led led;
  (void)led.elector.step(start, noon, TimePassed{});
  EXPECT_EQ(led.elector.deadline(), start + 10s);
  const Actions lost = led.elector.step(start + 10s, noon, TimePassed{});
  EXPECT_EQ(only<LostLeadership>(lost).why, "not renewed within 10s");
  EXPECT_TRUE(led.elector.step(start + 11s, noon, Written{led.lease}).empty());
}

TEST(Elector, TheWatchdogAllowsTheLeaseAndSomeMore) {
  Led led;
  EXPECT_TRUE(led.elector.health(start + 35s, 20s));
  const Status late = led.elector.health(start + 36s, 20s);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().what, "failed election to renew leadership on lease l");
}

TEST(Elector, ReleaseLeavesAnEmptyHolder) {
  Led led;
  EXPECT_TRUE(std::holds_alternative<Read>(led.elector.step(start, noon, Stopping{}).at(0)));
  const Actions put = led.elector.step(start, noon + 5s, Found{led.lease});
  const Lease released = only<Update>(put).lease;
  EXPECT_EQ(released.spec.holder_identity, "");
  EXPECT_EQ(released.spec.lease_duration_seconds, 1);
  EXPECT_EQ(released.spec.lease_transitions, 0);
  EXPECT_EQ(released.spec.acquire_time, noon + 5s);
  EXPECT_EQ(released.spec.renew_time, noon + 5s);
  EXPECT_EQ(only<Stopped>(led.elector.step(start, noon, Written{released})), Stopped{});
  EXPECT_FALSE(led.elector.leads());
}

TEST(Elector, ContradictionsAreRefused) {
  const struct {
    Duration lease, renew, retry;
    std::string why;
  } rows[] = {
      {15s, 10s, 2s, ""},
      {10s, 10s, 2s, "leaseDuration must be greater than renewDeadline"},
      {10500ms, 10s, 2s, "leaseDuration must be greater than renewDeadline"},
      {15s, 10s, 9s, "renewDeadline must be greater than retryPeriod*JitterFactor"},
      {15s, 12s, 10s, "renewDeadline must be greater than retryPeriod*JitterFactor"},
      {0s, 10s, 2s, "leaseDuration must be at least one second"},
      {15s, 0s, 2s, "renewDeadline must be greater than zero"},
      {15s, 10s, 0s, "retryPeriod must be greater than zero"},
  };
  for (const auto& row : rows) {
    ElectionConfig config = config_of("a");
    config.lease_duration = row.lease;
    config.renew_deadline = row.renew;
    config.retry_period = row.retry;
    const Status checked = check(config);
    EXPECT_EQ(checked ? "" : checked.error().what, row.why);
  }
}

}  // namespace
}  // namespace holdfast::sync::election
