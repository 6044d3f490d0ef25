// Snapshots of lists that clients read in pages: how long they are kept, and how much they may
// hold that the cache no longer has.

#include "agent/edge/answers/list_pages.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/cache_run.h"

namespace holdfast::agent::cached {
namespace {

using namespace std::chrono_literals;

enum class Change : std::uint8_t { none, of_another_list, of_one_object, of_the_list };

store::ScopeKey list_number(int number) {
  store::ScopeKey list = configmaps;
  list.namespace_name = "ns" + std::to_string(number);
  return list;
}

// Three lists of two objects, in a cache of 100,000 bytes.
class SnapshotRun {
 public:
  explicit SnapshotRun(std::size_t object_bytes)
      : bytes_(object_bytes),
        run_(time.context(), dir_.path(), sync::watch::CacheLimits{.memory_bytes = 100'000}) {
    for (int number = 0; number < 3; ++number) fill(number, 5);
  }

  void fill(int number, sync::objects::Version version) {
    const ScopePtr scope = run_.scopes.open(list_number(number)).value();
    EXPECT_TRUE(run_.content.replace(*scope, {{key("a"), made(version)}, {key("b"), made(version)}},
                                     version, pod_kind));
  }
  void change(Change change) {
    if (change == Change::of_another_list) fill(2, 6);
    if (change == Change::of_the_list) fill(1, 6);
    if (change == Change::of_one_object) {
      EXPECT_TRUE(
          run_.content.apply(*scope(1), {sync::watch::EventType::modified, key("b"), made(6)}));
    }
  }
  // The continue token of the first page.
  std::string begin(int number = 1) {
    const sync::watch::ListPage page = pages_.first(*scope(number), 1);
    EXPECT_EQ(page.items.size(), 1u);
    return page.part.continue_token;
  }
  // The versions that the next page shows, or an error.
  std::string go_on(const std::string& token, int number = 1) {
    const auto page = pages_.next(*scope(number), sync::watch::parse_page_token(token).value(), 0);
    if (!page) return std::string(to_string(page.error().code));
    return std::to_string(page->part.version) + " and " + std::to_string(page->items.size());
  }

 private:
  ScopePtr scope(int number) { return run_.table.find(list_number(number)); }
  [[nodiscard]] sync::watch::CachedObject made(sync::objects::Version version) const {
    return {"u", version, std::make_shared<const std::string>(std::string(bytes_, 'x'))};
  }

 public:
  test::VirtualTime time;

 private:
  std::size_t bytes_;
  test::ScratchDir dir_;
  Agent run_;
  Random random_{1};
  ListPages pages_{run_.table.snapshots(), random_};
};

TEST(ListSnapshots, GiveWayToTheCacheWithWhatItNoLongerHas) {
  struct Row {
    std::string_view why;
    std::size_t object_bytes;
    Change change;
    std::string expected;
  };
  const Row rows[] = {
      {"what the cache has needs no room", 16'000, Change::none, "5 and 1"},
      {"another list's change needs none", 8'000, Change::of_another_list, "5 and 1"},
      {"a replaced object fits", 10'000, Change::of_one_object, "5 and 1"},
      {"a replaced object does not fit", 13'000, Change::of_one_object, "gone"},
      {"a replaced list fits", 8'000, Change::of_the_list, "5 and 1"},
      {"a replaced list does not fit", 13'000, Change::of_the_list, "gone"},
  };
  for (const Row& row : rows) {
    SnapshotRun run(row.object_bytes);
    const std::string token = run.begin();
    run.change(row.change);
    EXPECT_EQ(run.go_on(token), row.expected) << row.why;
  }
}

TEST(ListSnapshots, TheOldestGivesWayFirst) {
  SnapshotRun run(11'000);
  const std::string first = run.begin(0);
  const std::string second = run.begin(1);
  run.fill(1, 6);
  EXPECT_EQ(run.go_on(first, 0), "5 and 1");
  run.fill(0, 6);
  EXPECT_EQ(run.go_on(first, 0), "gone");
  EXPECT_EQ(run.go_on(second, 1), "5 and 1");
}

TEST(ListSnapshots, LiveForFiveMinutesFromTheLastFirstPage) {
  SnapshotRun run(100);
  const std::string token = run.begin();
  run.time.run(4min);
  EXPECT_EQ(run.begin(), token) << "clients share the snapshot";
  run.time.run(4min);
  EXPECT_EQ(run.go_on(token), "5 and 1");
  run.time.run(61s);
  EXPECT_EQ(run.go_on(token), "gone");
}

}  // namespace
}  // namespace holdfast::agent::cached
