#include "sync/watch/list_place.h"

#include <gtest/gtest.h>

#include "sync/watch/watch_cache.h"

namespace holdfast::sync::watch {
namespace {

constexpr std::string_view caller = "token:a";
constexpr std::size_t mebibyte = 1UL << 20;

TEST(ListPlace, OfAListThatHasFailedInMemory) {
  const CacheLimits limits;
  const Failure too_large{.code = Errc::exhausted, .list_too_large = true};
  const Failure no_room{.code = Errc::exhausted};
  EXPECT_TRUE(belongs_on_disk(node_owner, too_large, limits));
  EXPECT_FALSE(belongs_on_disk(node_owner, no_room, limits)) << "a later retry may succeed";
  EXPECT_FALSE(belongs_on_disk(caller, too_large, limits)) << "the disk is the node's";
}

TEST(ListPlace, OfARestoredList) {
  const CacheLimits limits{.memory_bytes = 10 * mebibyte,
                           .disk_bytes = 20 * mebibyte,
                           .scope_bytes = 2 * mebibyte,
                           .scope_objects = 1000};
  ScopeBytes nearly_full;
  nearly_full.change(std::string(node_owner), 0, 10 * mebibyte - 100 * 560);
  const struct {
    std::string_view what;
    std::string_view owner;
    std::size_t objects;
    std::size_t bytes;
    ScopeBytes held;
    std::string_view place;  // "": refused
  } rows[] = {
      {"a small one", node_owner, 10, mebibyte, {}, "memory"},
      {"with its objects' overhead just too large",
       node_owner,
       10,
       2 * mebibyte - 10 * object_overhead + 1,
       {},
       "disk"},
      {"just not", node_owner, 10, 2 * mebibyte - 10 * object_overhead, {}, "memory"},
      {"a caller's", caller, 10, 3 * mebibyte, {}, ""},
      {"as large as the disk", node_owner, 10, 20 * mebibyte, {}, "disk"},
      {"larger", node_owner, 10, 20 * mebibyte + 1, {}, ""},
      {"with too many objects", node_owner, 1001, 3 * mebibyte, {}, ""},
      {"without room in memory for its bytes", node_owner, 100, mebibyte, nearly_full, "disk"},
      {"nor for the names", node_owner, 101, mebibyte, nearly_full, ""},
  };
  for (const auto& row : rows) {
    const auto place = place_of(row.owner, row.objects, row.bytes, row.held, limits);
    const std::string_view text = !place ? "" : *place == ListPlace::disk ? "disk" : "memory";
    EXPECT_EQ(text, row.place) << row.what;
    EXPECT_TRUE(place || place.error().code == Errc::exhausted) << row.what;
  }
}

TEST(ListPlace, OfAListOnDiskThatHasBecomeSmall) {
  const CacheLimits limits{.memory_bytes = 10 * mebibyte, .scope_bytes = 4 * mebibyte};
  ScopeBytes full;
  full.change(std::string(node_owner), 0, 10 * mebibyte);
  const std::size_t three = 3 * mebibyte - 10 * object_overhead;
  EXPECT_TRUE(returns_to_memory(node_owner, 10, three, {}, limits));
  EXPECT_FALSE(returns_to_memory(node_owner, 10, three + 1, {}, limits)) << "it may grow again";
  EXPECT_FALSE(returns_to_memory(node_owner, 10, 1000, full, limits));
}

TEST(ListPlace, LimitsOfWhatIsOnDisk) {
  EXPECT_TRUE(check_share(75, 100));
  EXPECT_FALSE(check_share(76, 100));
  EXPECT_TRUE(check_share(1000, 0)) << "the file has no limit";
  const CacheLimits limits{.disk_bytes = 20 * mebibyte};
  EXPECT_TRUE(check_list_bytes(20 * mebibyte, limits));
  EXPECT_FALSE(check_list_bytes(20 * mebibyte + 1, limits));
  EXPECT_FALSE(must_be_written(2, 2 * (object_overhead + place_overhead) + unwritten_max));
  EXPECT_TRUE(must_be_written(2, 2 * (object_overhead + place_overhead) + unwritten_max + 1));
  EXPECT_TRUE(may_take_back(taken_back_max - 1, 1));
  EXPECT_FALSE(may_take_back(taken_back_max, 1));
}

}  // namespace
}  // namespace holdfast::sync::watch
