#include "sync/control/api_server_contact.h"

#include <gtest/gtest.h>

namespace holdfast::sync::control {
namespace {

using namespace std::chrono_literals;

TEST(ApiServerContact, OnlyALongGapNeedsNewGraces) {
  constexpr MonoTime start{};
  ApiServerContact contact(start, 25s);
  EXPECT_FALSE(contact.note_answer(start + 1h)) << "without failed requests there is no gap";
  contact.note_failure();
  EXPECT_TRUE(contact.is_lost());
  EXPECT_FALSE(contact.note_answer(start + 1h + 25s));
  EXPECT_FALSE(contact.is_lost());
  contact.note_failure();
  EXPECT_TRUE(contact.note_answer(start + 1h + 51s));
  EXPECT_FALSE(contact.note_answer(start + 2h));
}

}  // namespace
}  // namespace holdfast::sync::control
