// Lists in pages, and their continue tokens.

#include "sync/watch/pages.h"

#include "platform/text.h"

namespace holdfast::sync::watch {
namespace {

WatchCache::Objects keyed(std::initializer_list<ObjectKey> keys) {
  WatchCache::Objects made;
  for (const ObjectKey& key : keys) {
    const std::string bytes = key.namespace_name + "/" + key.name;
    made[key] = {"u", 1, std::make_shared<const std::string>(bytes)};
  }
  return made;
}

std::string shown_page(const ListPage& page) {
  std::string text;
  for (const Body& item : page.items) text += **item.load() + " ";
  const auto token = parse_page_token(page.part.continue_token);
  text += token ? "then " + token->after.namespace_name + "/" + token->after.name : "end";
  const auto& left = page.part.remaining_item_count;
  return left ? text + " +" + std::to_string(*left) : text;
}

TEST(ListPages, ACutIsCompleteAndInOrder) {
  // "a-b/x" comes before "a/x", as an API server orders them.
  const auto five = keyed({{"a", "x"}, {"a", "y"}, {"a-b", "x"}, {"b", "x"}, {"b", "z"}});
  struct Case {
    ObjectKey after;
    std::size_t limit;
    bool counts;
    const char* page;
  };
  const Case cases[] = {
      {{}, 2, true, "a-b/x a/x then a/x +3"},
      {{"a", "x"}, 2, true, "a/y b/x then b/x +1"},
      {{"b", "x"}, 2, true, "b/z end"},
      {{}, 5, true, "a-b/x a/x a/y b/x b/z end"},
      {{}, 500, true, "a-b/x a/x a/y b/x b/z end"},
      {{}, 4, false, "a-b/x a/x a/y b/x then b/x"},
      {{"a", "nowhere"}, 1, false, "a/x then a/x"},
      {{"z", "z"}, 1, true, "end"},
  };
  for (const Case& c : cases) {
    const ListPage page = cut_page(five, 7, {42, c.after}, c.limit, c.counts);
    EXPECT_EQ(shown_page(page), c.page);
    EXPECT_EQ(page.part.version, 7u);
  }
  EXPECT_EQ(shown_page(cut_page(keyed({}), 7, {42, {}}, 1, true)), "end");
}

TEST(ListPages, TokensAreRecognisedAndNobodyElsesAre) {
  const PageToken tokens[] = {
      {1, {"ns", "name"}}, {~std::uint64_t{0}, {"", "node-1"}}, {0, {"a-b", "x.y"}}};
  for (const PageToken& token : tokens) {
    EXPECT_EQ(parse_page_token(encode_page_token(token)), token);
  }
  for (const std::string& text :
       {std::string(), std::string("%%%"), base64_encode("holdfast/1 "),
        base64_encode("holdfast/1 x a b"), base64_encode("holdfast/1 1 a "),
        base64_encode("holdfast/1 1 a b c"), base64_encode("holdfast/1 -1 a b"),
        base64_encode(R"({"v":"meta.k8s.io/v1","rv":5,"start":"a/b\u0000"})"),
        encode_page_token(tokens[0]).substr(1)}) {
    EXPECT_EQ(parse_page_token(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace holdfast::sync::watch
