// Turns: one piece of work in each turn of the loop, in order, and everything else between them.

#include "platform/loop/turns.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <optional>
#include <string>

#include "test/support/virtual_time.h"

namespace holdfast::loop {
namespace {

TEST(Turns, AlternateWithWhateverElseIsReady) {
  test::VirtualTime time;
  std::string order;
  Turns turns(time.executor());
  for (const char letter : {'a', 'b', 'c'}) turns.add([&order, letter] { order += letter; });
  EXPECT_EQ(order, "a") << "the first one does not wait";
  for (const char digit : {'1', '2'}) {
    asio::post(time.executor(), [&order, &time, digit] {
      order += digit;
      asio::post(time.executor(), [&order, digit] { order += digit; });
    });
  }
  time.settle();
  EXPECT_EQ(order, "ab12c12");
  turns.add([&order] { order += 'd'; });
  EXPECT_EQ(order, "ab12c12d") << "nothing else waits";
}

TEST(Turns, BeginWhatIsLeftWhenTheyEnd) {
  test::VirtualTime time;
  int begun = 0;
  auto turns = std::make_optional<Turns>(time.executor());
  for (int piece = 0; piece < 3; ++piece) turns->add([&begun] { ++begun; });
  turns.reset();
  EXPECT_EQ(begun, 1);
  time.settle();
  EXPECT_EQ(begun, 3);
}

TEST(Turns, MayBeAddedToFromWithin) {
  test::VirtualTime time;
  std::string order;
  Turns turns(time.executor());
  turns.add([&] {
    order += 'a';
    turns.add([&order] { order += 'c'; });
    order += 'b';
  });
  EXPECT_EQ(order, "ab");
  time.settle();
  EXPECT_EQ(order, "abc");
}

}  // namespace
}  // namespace holdfast::loop
