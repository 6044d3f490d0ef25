// Which page a client gets in place of a list that is too large.

#include <gtest/gtest.h>

#include "sync/objects/list_options.h"

namespace holdfast::sync::objects {
namespace {

TEST(SmallerPage, HasFewerObjectsOfTheSameList) {
  struct Row {
    const char* asked;
    const char* smaller;  // "-": there is none
  };
  const Row rows[] = {
      {"", "-"},
      {"resourceVersion=0", "-"},
      {"limit=0&resourceVersion=0", "-"},
      {"limit=-1", "-"},
      {"limit=many", "-"},
      {"watch=true&limit=500", "-"},
      {"limit=500&resourceVersion=0", "limit=500"},
      {"limit=1&resourceVersion=0", "limit=1"},
      {"limit=9000&resourceVersion=0&resourceVersionMatch=NotOlderThan", "limit=500"},
      {"limit=500", "limit=62"},
      {"limit=9000", "limit=500"},
      {"limit=62", "limit=7"},
      {"limit=7", "limit=1"},
      {"limit=1", "-"},
      {"limit=500&continue=abc", "continue=abc&limit=62"},
      {"limit=500&continue=abc&resourceVersion=0", "continue=abc&resourceVersion=0&limit=62"},
      // The same state is asked for again.
      {"limit=500&resourceVersion=7&resourceVersionMatch=Exact",
       "resourceVersion=7&resourceVersionMatch=Exact&limit=62"},
      {"labelSelector=a%3Db&limit=8&pretty=true", "labelSelector=a%3Db&pretty=true&limit=1"},
  };
  for (const Row& row : rows) {
    const auto smaller = smaller_page(Query::parse(row.asked).value());
    EXPECT_EQ(smaller ? smaller->encode() : "-", row.smaller) << row.asked;
  }
}

}  // namespace
}  // namespace holdfast::sync::objects
