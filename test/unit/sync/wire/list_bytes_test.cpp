// Splitting and joining Lists without touching the items' bytes.

#include "sync/wire/list_bytes.h"

namespace holdfast::sync::wire {
namespace {

constexpr std::string_view list =
    R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"211",)"
    R"("continue":"eyJ2","remainingItemCount":2},"items":[{"metadata":{"name":"a, ]}"}},)"
    R"({"metadata":{"name":"b"},"spec":{"x":[1,{"y":"\""}]}}]})";

const ListHead head{.kind = "PodList",
                    .api_version = "v1",
                    .resource_version = "211",
                    .continue_token = "eyJ2",
                    .remaining_item_count = 2};

TEST(ListBytes, SplitsAndJoinsToTheSameBytes) {
  const auto split = split_list(list);
  ASSERT_TRUE(split.has_value()) << split.error().what;
  const ListBytes want{head,
                       {R"({"metadata":{"name":"a, ]}"}})",
                        R"({"metadata":{"name":"b"},"spec":{"x":[1,{"y":"\""}]}})"}};
  EXPECT_EQ(*split, want);
  EXPECT_EQ(join_list(split->head, split->items), list);
}

TEST(ListBytes, EmptyLists) {
  const std::string_view empty =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]})";
  const auto split = split_list(empty);
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(split->items.size(), 0u);
  EXPECT_EQ(join_list(split->head, split->items), empty);
  EXPECT_EQ(split_list(R"({"items":null})"), ListBytes{});
  EXPECT_EQ(join_list({}, {}), R"({"metadata":{},"items":[]})");
}

struct BadList {
  std::string_view bytes;
  std::string_view error;
};

const BadList bad_lists[] = {
    {R"({"kind":"PodList"})", "list: no items field"},
    {R"({"items":{}})", "list: JSON at byte 9: expected an array"},
    {R"({"items":[1]})", "list: JSON at byte 10: expected an object"},
    {R"({"items":[{}]} x)", "list: JSON at byte 15: more after the end"},
    {std::string_view("{\"items\":[]}\0{}", 15), "list: JSON at byte 12: more after the end"},
};

TEST(ListBytes, WhatIsNoListIsRefused) {
  for (const BadList& bad : bad_lists) {
    const auto split = split_list(bad.bytes);
    ASSERT_FALSE(split.has_value()) << bad.bytes;
    EXPECT_EQ(split.error().what, bad.error);
  }
}

TEST(ListBytes, TheNumberOfItemsIsLimited) {
  EXPECT_EQ(split_list(list, 2)->items.size(), 2u);
  const auto split = split_list(list, 1);
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().code, Errc::exhausted);
  EXPECT_EQ(split.error().what, "list: more than 1 items");
}

TEST(ListBytes, NoPrefixOfAListIsAList) {
  for (std::size_t size = 0; size < list.size(); ++size) {
    EXPECT_FALSE(split_list(list.substr(0, size)).has_value()) << size;
  }
}

struct Form {
  std::string_view item;
  std::string_view object;
};

const Form forms[] = {
    {R"({"metadata":{"name":"a"}})", R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}})"},
    {R"({})", R"({"kind":"Pod","apiVersion":"v1"})"},
};

TEST(ListBytes, ItemsAndObjects) {
  for (const Form& form : forms) {
    EXPECT_EQ(standalone(form.item, "Pod", "v1"), form.object);
    EXPECT_EQ(*as_item(form.object), form.item);
    EXPECT_EQ(*as_item(form.item), form.item);
  }
  const std::string_view custom = R"({"apiVersion":"x/v1","kind":"X","metadata":{}})";
  EXPECT_EQ(standalone(custom, "Pod", "v1"), custom);
  EXPECT_EQ(*as_item(R"({"metadata":{},"kind":"X", "spec":1,"apiVersion":"v1"})"),
            R"({"metadata":{},"spec":1})");
  EXPECT_FALSE(as_item(R"({"metadata":)").has_value());
  EXPECT_EQ(item_kind("PodList"), "Pod");
  EXPECT_EQ(item_kind("Table"), "Table");
}

}  // namespace
}  // namespace holdfast::sync::wire
