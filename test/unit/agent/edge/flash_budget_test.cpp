// The flash wear of one pod's life: the bytes written to cache.db and its log while pods are
// created, change as often as those of a recorded kubelet 1.36, and are deleted.

#include <algorithm>
#include <random>

#include "sync/wire/protobuf/frames.h"
#include "sync/wire/protobuf/header.h"
#include "test/support/fault_vfs.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/cache_run.h"
#include "test/unit/agent/edge/replay/recording.h"

namespace holdfast::agent::cached {
namespace {

using namespace std::chrono_literals;

constexpr double budget_bytes = 40'000;
constexpr Duration group = 2s;  // --flush-interval

const sync::wire::ScopeKind kind{"Pod", "v1", sync::wire::Encoding::protobuf};
const store::ScopeKey node_pods{.owner = "node",
                                .version = "v1",
                                .resource = "pods",
                                .field_selector = "spec.nodeName=edge1",
                                .encoding = "protobuf"};

// A change of a pod and its time. `bytes`: the size of the object, or of the token.
struct Moment {
  enum class What : std::uint8_t { told, token, gone } what = What::told;
  Duration at{};  // since the pod was created
  std::string bytes = {};
};

std::string digits(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < count) text += "0123456789abcdef"[random() % 16];
  return text;
}

// An unknown field at the end of an envelope; at most 127 bytes.
std::string more(std::string_view bytes) {
  return std::string("\x7a").append(1, static_cast<char>(bytes.size())).append(bytes);
}

// The changes of the pod "web" in the recording. It contains no deletion: a pod that is deleted
// changes twice more, when the deletion begins and when its containers have ended.
std::vector<Moment> recorded_life() {
  const auto is_pods = [](const replay::Exchange& exchange) {
    return exchange.is_watch && exchange.request.path() == "/api/v1/pods";
  };
  std::vector<Moment> life;
  Duration came{};
  for (const replay::Frame& frame :
       replay::recording(replay::Session::v1_36).first(is_pods).frames) {
    const auto event =
        sync::wire::decode_protobuf_event(std::string_view(frame.bytes).substr(4)).value();
    if (frame.is_bookmark || sync::wire::read_protobuf_header(event.object)->name != "web")
      continue;
    if (life.empty()) came = frame.at;
    life.push_back({.at = frame.at - came, .bytes = event.object});
  }
  // The answer with a bound token has 1.5 KB in all; the token itself has 1141 characters.
  life.push_back({Moment::What::token, 120ms, std::string(390, 'm')});
  const std::string last = life[life.size() - 2].bytes;
  life.push_back({.at = 6s, .bytes = last + more("2026-11-23T04:07:29Z")});
  life.push_back({.at = 8300ms, .bytes = last + more(digits(120, 1))});
  life.push_back({.what = Moment::What::gone, .at = 8310ms});
  return life;
}

class FlashBudget : public testing::TestWithParam<int> {
 protected:
  FlashBudget() {
    test::follow({.within = "cache.db"});
    run_.emplace(time_.context(), dir_.path(), sync::watch::CacheLimits{}, "fault");
    scope_ = run_->scopes.open(node_pods).value();
    sync::watch::WatchCache::Objects resident;
    for (int pod = 0; pod < 10; ++pod) resident[name_of(pod)] = object_of(pod, life_[3].bytes);
    EXPECT_TRUE(run_->content.replace(*scope_, std::move(resident), ++version_, kind));
    for (int pod = 0; pod < 10; ++pod) put_token(pod);
  }
  ~FlashBudget() override { test::follow({}); }

  // Runs the lives of `count` pods from number `first`, starting one every 50 ms.
  void live(int first, int count) {
    std::multimap<Duration, std::pair<int, const Moment*>> story;
    for (int pod = first; pod < first + count; ++pod) {
      for (const Moment& moment : life_) {
        story.insert({moment.at + 50ms * (pod - first), {pod, &moment}});
      }
    }
    Duration flushed{};
    for (const auto& [at, happening] : story) {
      for (; flushed + group <= at; flushed += group) EXPECT_TRUE(run_->scopes.flush());
      happen(happening.first, *happening.second);
    }
    EXPECT_TRUE(run_->scopes.flush());
  }

 private:
  static sync::watch::ObjectKey name_of(int pod) {
    return {"site", "churn-" + std::to_string(pod)};
  }

  // Gives each pod its own uid.
  sync::watch::CachedObject object_of(int pod, const std::string& bytes) {
    const std::string uid = digits(36, static_cast<unsigned>(pod));
    const std::string recorded = sync::wire::read_protobuf_header(bytes).value().uid;
    std::string own = bytes;
    for (auto at = own.find(recorded); at != std::string::npos; at = own.find(recorded)) {
      own.replace(at, uid.size(), uid);
    }
    return {uid, ++version_, std::make_shared<const std::string>(std::move(own))};
  }

  void put_token(int pod) {
    std::mt19937 random(static_cast<unsigned>(pod));
    store::Answer token{.status = 201, .bytes = std::string(390, 'm'), .expires = WallTime(1h)};
    const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    while (token.bytes.size() < 1531) token.bytes += letters[random() % 64];
    const std::string key = "token /api/v1/namespaces/site/serviceaccounts/default/token " +
                            digits(64, static_cast<unsigned>(pod));
    EXPECT_TRUE(run_->answers.put("node", key, token));
  }

  void happen(int pod, const Moment& moment) {
    if (moment.what == Moment::What::token) return put_token(pod);
    const bool gone = moment.what == Moment::What::gone;
    const std::string& bytes = gone ? life_.front().bytes : moment.bytes;
    EXPECT_TRUE(run_->content.apply(
        *scope_, {gone ? sync::watch::EventType::deleted : sync::watch::EventType::modified,
                  name_of(pod), object_of(pod, bytes)}));
  }

  const std::vector<Moment> life_ = recorded_life();
  const test::ScratchDir dir_;
  test::VirtualTime time_;
  std::optional<Agent> run_;
  ScopePtr scope_;
  sync::objects::Version version_ = 1000;
};

TEST_P(FlashBudget, APodsLifeIsWrittenInFewBytes) {
  constexpr int lives = 200;  // enough for a checkpoint of the log
  const test::FaultCounts before = test::fault_counts();
  for (int first = 100; first < 100 + lives; first += GetParam()) live(first, GetParam());
  const test::FaultCounts& after = test::fault_counts();
  const double bytes = static_cast<double>(after.bytes - before.bytes) / lives;
  const double blocks = static_cast<double>(after.blocks - before.blocks) * 4096 / lives;
  RecordProperty("bytes", std::to_string(bytes));
  RecordProperty("bytes_of_blocks", std::to_string(blocks));
  EXPECT_LT(bytes, budget_bytes);
  EXPECT_LT(blocks, budget_bytes) << "counted in whole blocks of the disk";
  EXPECT_GE(after.syncs - before.syncs, 3 * lives)
      << "its creation, its token and its deletion are durable";
}

INSTANTIATE_TEST_SUITE_P(Pods, FlashBudget, testing::Values(1, 10), [](const auto& test) {
  return test.param == 1 ? std::string("AlonePod") : std::string("TenAtATime");
});

}  // namespace
}  // namespace holdfast::agent::cached
