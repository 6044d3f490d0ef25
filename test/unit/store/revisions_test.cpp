// Revisions: conditional writes, reads of the past, paging, history and its compaction.

#include "store/revisions.h"

#include <fstream>
#include <iterator>

#include "test/support/scratch_dir.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

using Kind = KeyEvent::Kind;

Revisions in_memory() { return value(Revisions::open(Database::in_memory())); }

// Revisions 1 to 6: create /a/1, /a/2, /b/1; update /a/1; remove /a/2; create /a/3.
Revisions with_history() {
  Revisions store = in_memory();
  EXPECT_EQ(value(store.put("/a/1", "one")), 1);
  EXPECT_EQ(value(store.put("/a/2", "two")), 2);
  EXPECT_EQ(value(store.put("/b/1", "other")), 3);
  EXPECT_EQ(value(store.put("/a/1", "one again")), 4);
  EXPECT_EQ(value(store.remove("/a/2")), 5);
  EXPECT_EQ(value(store.put("/a/3", "three")), 6);
  return store;
}

const StoredValue a1_first{"/a/1", "one", 1, 1};
const StoredValue a2{"/a/2", "two", 2, 2};
const StoredValue b1{"/b/1", "other", 3, 3};
const StoredValue a1{"/a/1", "one again", 1, 4};
const StoredValue a3{"/a/3", "three", 6, 6};

TEST(Revisions, WritesKeepWhatTheyExpect) {
  Revisions store = in_memory();
  const struct {
    std::string what;
    std::optional<std::int64_t> expected;
    bool remove;
    std::string said;
  } rows[] = {
      {"update of nothing", 7, false, "conflict: key k is absent, not at revision 7"},
      {"remove of nothing", std::nullopt, true, "not_found: key k"},
      {"expected remove of nothing", 7, true, "not_found: key k"},
      {"create", 0, false, "ok"},
      {"create again", 0, false, "conflict: key k is at revision 1, not absent"},
      {"stale update", 9, false, "conflict: key k is at revision 1, not at revision 9"},
      {"update", 1, false, "ok"},
      {"blind update", std::nullopt, false, "ok"},
      {"stale remove", 2, true, "conflict: key k is at revision 3, not at revision 2"},
      {"remove", 3, true, "ok"},
      {"create after remove", 0, false, "ok"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(
        said(row.remove ? store.remove("k", row.expected) : store.put("k", "v", row.expected)),
        row.said);
  }
  EXPECT_EQ(store.current_revision(), 5);
  EXPECT_EQ(value(store.get("k")), (StoredValue{"k", "v", 5, 5}));
}

TEST(Revisions, ADamagedFileIsRefusedAndLeftAsItIs) {
  const test::ScratchDir dir;
  const std::filesystem::path file = dir.path() / "revisions.db";
  const std::string damaged(8192, 'x');
  std::ofstream(file, std::ios::binary) << damaged;
  const auto opened = Revisions::open(file);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::corrupt) << opened.error().what;
  std::ifstream in(file, std::ios::binary);
  const std::string left((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(left, damaged);
}

TEST(Revisions, ReadsSeeNowAndThen) {
  Revisions store = with_history();
  const struct {
    std::string key;
    std::optional<std::int64_t> at;
    std::optional<StoredValue> value;
    std::string said;
  } rows[] = {
      {"/a/1", std::nullopt, a1, "ok"},
      {"/a/1", 6, a1, "ok"},
      {"/a/1", 3, a1_first, "ok"},
      {"/a/2", 4, a2, "ok"},
      {"/a/2", 5, std::nullopt, "not_found: key /a/2"},
      {"/a/2", std::nullopt, std::nullopt, "not_found: key /a/2"},
      {"/a/3", 5, std::nullopt, "not_found: key /a/3"},
      {"/a/1", 7, std::nullopt, "invalid: revision 7 is in the future; the current one is 6"},
  };
  for (const auto& row : rows) {
    const auto found = store.get(row.key, row.at);
    SCOPED_TRACE(row.key + " at " + std::to_string(row.at.value_or(0)));
    EXPECT_EQ(said(found), row.said);
    if (row.value) {
      EXPECT_EQ(value(found), *row.value);
    }
  }
}

TEST(Revisions, ListsPageInKeyOrder) {
  Revisions store = with_history();
  const struct {
    std::string name;
    ListQuery query;
    ListPage page;
  } rows[] = {
      {"all", {}, {{a1, a3, b1}, 6, 0}},
      {"prefix", {.prefix = "/a/"}, {{a1, a3}, 6, 0}},
      {"nothing there", {.prefix = "/c/"}, {{}, 6, 0}},
      {"first page", {.limit = 1}, {{a1}, 6, 2}},
      {"second page", {.start_after = "/a/1", .limit = 1}, {{a3}, 6, 1}},
      {"last page", {.start_after = "/a/3", .limit = 1}, {{b1}, 6, 0}},
      {"past the end", {.start_after = "/b/1", .limit = 1}, {{}, 6, 0}},
      {"start before the prefix", {.prefix = "/b/", .start_after = "/a/1"}, {{b1}, 6, 0}},
      {"exact fit", {.prefix = "/a/", .limit = 2}, {{a1, a3}, 6, 0}},
      {"the past", {.at = 4}, {{a1, a2, b1}, 4, 0}},
      {"a page of the past", {.limit = 2, .at = 4}, {{a1, a2}, 4, 1}},
      {"the next one", {.start_after = "/a/2", .limit = 2, .at = 4}, {{b1}, 4, 0}},
      {"before the update", {.prefix = "/a/", .at = 3}, {{a1_first, a2}, 3, 0}},
      {"after the delete", {.prefix = "/a/", .at = 5}, {{a1}, 5, 0}},
      {"the beginning", {.at = 0}, {{}, 0, 0}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(value(store.list(row.query)), row.page);
  }
}

TEST(Revisions, EventsReplayHistory) {
  Revisions store = with_history();
  const std::vector<KeyEvent> all = {
      {Kind::put, 1, 1, "/a/1", "one", {}},   {Kind::put, 2, 2, "/a/2", "two", {}},
      {Kind::put, 3, 3, "/b/1", "other", {}}, {Kind::put, 4, 1, "/a/1", "one again", a1_first},
      {Kind::remove, 5, 2, "/a/2", "", a2},   {Kind::put, 6, 6, "/a/3", "three", {}},
  };
  EXPECT_EQ(value(store.events_since("", 0)), all);
  EXPECT_EQ(value(store.events_since("/a/", 2)), (std::vector{all[3], all[4], all[5]}));
  EXPECT_EQ(value(store.events_since("/a/", 0, 2)), (std::vector{all[0], all[1]}));
  EXPECT_EQ(value(store.events_since("/b/", 3)), std::vector<KeyEvent>{});
  EXPECT_EQ(value(store.events_since("", 6)), std::vector<KeyEvent>{});
  EXPECT_EQ(said(store.events_since("", 7)),
            "invalid: revision 7 is in the future; the current one is 6");
}

TEST(Revisions, CompactionForgetsOnlyWhatIsOver) {
  for (const std::int64_t compacted : {1, 2, 3, 4, 5, 6}) {
    SCOPED_TRACE(compacted);
    Revisions whole = with_history();
    Revisions store = with_history();
    ASSERT_EQ(said(store.compact(compacted)), "ok");
    ASSERT_EQ(said(store.compact(compacted - 1)), "ok");  // already compacted
    EXPECT_EQ(store.compacted_revision(), compacted);
    for (std::int64_t at = 0; at <= 6; ++at) {
      if (at < compacted) {
        const std::string gone = "gone: revision " + std::to_string(at) +
                                 " was compacted; history starts at " + std::to_string(compacted);
        EXPECT_EQ(said(store.list({.at = at})), gone);
        EXPECT_EQ(said(store.get("/a/1", at)), gone);
        EXPECT_EQ(said(store.events_since("", at)), gone);
        continue;
      }
      EXPECT_EQ(value(store.list({.at = at})), value(whole.list({.at = at})));
      EXPECT_EQ(said(store.get("/a/2", at)), said(whole.get("/a/2", at)));
      EXPECT_EQ(value(store.events_since("", at)), value(whole.events_since("", at)));
    }
  }
  EXPECT_EQ(said(with_history().compact(7)),
            "invalid: revision 7 is in the future; the current one is 6");
}

TEST(Revisions, CompactionInStepsOfAnySizeLeavesTheSame) {
  Revisions at_once = in_memory();
  Revisions in_steps = in_memory();
  for (Revisions* store : {&at_once, &in_steps}) {
    for (int i = 0; i < 5000; ++i) {
      const std::string key = "k" + std::to_string(i % 7);
      ASSERT_TRUE(i % 11 == 10 ? store->remove("k" + std::to_string((i - 1) % 7))
                               : store->put(key, std::to_string(i)));
    }
  }
  ASSERT_TRUE(at_once.compact(4900));
  for (const std::int64_t to : {1, 10, 2500, 4900}) ASSERT_TRUE(in_steps.compact(to));
  EXPECT_EQ(value(at_once.list({.at = 4900})), value(in_steps.list({.at = 4900})));
  EXPECT_EQ(value(at_once.events_since("", 4900)), value(in_steps.events_since("", 4900)));
}

TEST(Revisions, AGroupIsKeptOrLostTogether) {
  Revisions store = in_memory();
  ASSERT_TRUE(store.put("a", "1"));
  ASSERT_TRUE(store.begin());
  EXPECT_EQ(value(store.put("a", "2", 1)), 2);
  EXPECT_EQ(said(store.put("a", "3", 1)), "conflict: key a is at revision 2, not at revision 1");
  EXPECT_EQ(value(store.put("b", "1")), 3);
  EXPECT_EQ(value(store.get("a")).value, "2");
  store.roll_back();
  EXPECT_EQ(store.current_revision(), 1);
  EXPECT_EQ(value(store.list({})), (ListPage{{{"a", "1", 1, 1}}, 1, 0}));

  ASSERT_TRUE(store.begin());
  EXPECT_TRUE(store.grouping());
  EXPECT_EQ(value(store.remove("a")), 2);
  EXPECT_EQ(value(store.put("b", "2")), 3);
  ASSERT_TRUE(store.commit());
  EXPECT_FALSE(store.grouping());
  EXPECT_EQ(value(store.list({})), (ListPage{{{"b", "2", 3, 3}}, 3, 0}));
}

TEST(Revisions, RevisionsNeverRepeatAcrossRestarts) {
  const test::ScratchDir scratch;
  const auto file = scratch.path() / "revisions.db";
  {
    Revisions store = value(Revisions::open(file));
    ASSERT_TRUE(store.put("a", "1"));
    ASSERT_TRUE(store.remove("a"));
    ASSERT_TRUE(store.compact(2));  // the history is empty now
  }
  Revisions store = value(Revisions::open(file));
  EXPECT_EQ(store.current_revision(), 2);
  EXPECT_EQ(store.compacted_revision(), 2);
  EXPECT_EQ(value(store.put("a", "2")), 3);
  EXPECT_EQ(said(Revisions::open(file, {.access = Access::alone, .busy_timeout = {}})),
            "unavailable: open " + file.string() + ": revisions.db: in use by another process");
}

TEST(Revisions, KeysAndValuesAreAnyBytes) {
  using namespace std::string_literals;
  Revisions store = in_memory();
  const std::string keys[] = {"a", "a\0"s, "a\0b"s, "a\x7f", "\xc3\xbf", "\xf4\x8f\xbf\xbf"};
  for (const std::string& key : keys) ASSERT_TRUE(store.put(key, key + "\0\xff"s));
  std::vector<std::string> listed;
  for (std::string after;;) {
    const ListPage page = value(store.list({.start_after = after, .limit = 1}));
    listed.push_back(page.rows.front().key);
    EXPECT_EQ(page.rows.front().value, listed.back() + "\0\xff"s);
    if (page.remaining == 0) break;
    after = listed.back();
  }
  EXPECT_EQ(listed, (std::vector<std::string>(std::begin(keys), std::end(keys))));
  EXPECT_EQ(value(store.list({.prefix = "\xc3\xbf"})).rows.size(), 1u);
}

}  // namespace
}  // namespace holdfast::store
