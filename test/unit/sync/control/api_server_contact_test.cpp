#include "sync/control/api_server_contact.h"

#include <gtest/gtest.h>

namespace holdfast::sync::control {
namespace {

using namespace std::chrono_literals;

TEST(ApiServerContact, OnlyALongGapNeedsNewGraces) {
  constexpr MonoTime start{};
  ApiServerContact contact(start, 25s);
  EXPECT_FALSE(contact.note_answer(start + 1h)) << "without failed requests there is no gap";
  contact.note_failure(start + 1h);
  EXPECT_TRUE(contact.is_lost());
  EXPECT_FALSE(contact.note_answer(start + 1h + 25s));
  EXPECT_FALSE(contact.is_lost());
  contact.note_failure(start + 1h + 25s);
  EXPECT_TRUE(contact.note_answer(start + 1h + 51s));
  EXPECT_FALSE(contact.note_answer(start + 2h));
}

TEST(ApiServerContact, IsProbedWhenQuietAndMoreOftenWhileLost) {
  constexpr MonoTime start{};
  ApiServerContact contact(start, 25s);
  EXPECT_EQ(contact.probe_due(), start + 12s);
  (void)contact.note_answer(start + 4s);
  EXPECT_EQ(contact.probe_due(), start + 16s) << "an answer puts the probe off";
  contact.note_probe(start + 16s);
  EXPECT_EQ(contact.probe_due(), start + 28s) << "the answer is not there yet";
  contact.note_failure(start + 17s);
  EXPECT_EQ(contact.probe_due(), start + 19s);
  contact.note_probe(start + 19s);
  contact.note_failure(start + 19s);
  contact.note_failure(start + 20s);
  EXPECT_EQ(contact.probe_due(), start + 21s) << "other failures do not put the probe off";
  EXPECT_FALSE(contact.note_answer(start + 21s));
  EXPECT_EQ(contact.probe_due(), start + 33s);
}

TEST(ApiServerContact, AServerThatHangsIsNoticedBeforeItsNodesSeemSilent) {
  for (const Duration grace : {Duration(2s), Duration(6s), Duration(40s), Duration(5min)}) {
    const ApiServerContact contact(MonoTime{}, grace / 2);
    EXPECT_LT(contact.probe_due() + contact.probe_limit(), MonoTime{} + grace);
  }
}

}  // namespace
}  // namespace holdfast::sync::control
