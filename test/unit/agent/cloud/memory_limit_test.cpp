// Each memory limit of holdfast-cloud by itself. test/attack tests all of them together.

#include "agent/cloud/memory_limit.h"

#include <gtest/gtest.h>

namespace holdfast::agent {
namespace {

TEST(CloudMemory, TheHeapIsMeasuredNowAndThenAndAlwaysWhileItIsFull) {
  std::size_t heap = 0;
  int measured = 0;
  HeapLimit limit(1000, [&heap, &measured] {
    ++measured;
    return heap;
  });
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(limit.admit(1000));
  EXPECT_GE(measured, 10);
  EXPECT_LE(measured, 20) << "of 1 MB";
  heap = 1001;
  EXPECT_FALSE(limit.admit(100'000));
  EXPECT_FALSE(limit.admit(1));
  heap = 1000;
  EXPECT_TRUE(limit.admit(1)) << "as soon as there is room";
}

TEST(CloudMemory, ListsArePagedAndBounded) {
  const CloudMemory memory;
  ListWatchTarget target;
  memory.limit(target);
  EXPECT_TRUE(target.reflector.by_page);
  EXPECT_EQ(target.reflector.first_list_version, "") << "\"0\" is answered without pages";
  EXPECT_LE(target.reflector.page_size, 500);
  EXPECT_LE(target.frames.document_bytes, 3UL << 20);
  EXPECT_LE(memory.client_limits().reader.body_bytes, 1UL << 20) << "of what is no stream";
}

}  // namespace
}  // namespace holdfast::agent
