// Packed values: which values are packed, and how damaged or hostile rows are handled.

#include "store/pack.h"

#include <limits>
#include <random>

#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

std::string words(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) {
    text += R"({"f:type":{},"f:status":{},"n":)" + std::to_string(i * 7919) + "}";
  }
  text.resize(size);
  return text;
}

std::string noise(std::size_t size) {
  std::mt19937 random(7);
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(random());
  return bytes;
}

TEST(Pack, WhatIsPackedIsSmallerAndUnpacksToTheSame) {
  for (const PackStep step : {PackStep::exact, PackStep::coarse}) {
    for (const std::size_t size : {256U, 257U, 1000U, 4096U, 5000U, 70'000U, 3'000'000U}) {
      SCOPED_TRACE(size);
      const std::string plain = words(size);
      const Packed packed = pack(plain, step);
      if (packed.plain_size == 0) {
        EXPECT_TRUE(step == PackStep::coarse && size < 600) << "packing would save nothing";
        continue;
      }
      EXPECT_EQ(packed.plain_size, static_cast<std::int64_t>(size));
      EXPECT_LT(packed.bytes.size(), size);
      EXPECT_TRUE(step == PackStep::exact || packed.bytes.size() % 256 == 0);
      EXPECT_EQ(value(unpack(packed.bytes, packed.plain_size)), plain);
      EXPECT_EQ(pack(plain, step).bytes, packed.bytes)
          << "packing is deterministic, so unchanged values need no write";
    }
  }
}

TEST(Pack, WhatWouldNotShrinkStaysAsItIs) {
  constexpr PackLimits limits;
  for (const std::string& plain : {std::string(), words(limits.plain_min - 1), noise(300),
                                   noise(5000), std::string(limits.plain_max + 1, 'a')}) {
    EXPECT_EQ(pack(plain, PackStep::exact).plain_size, 0) << plain.size();
  }
}

TEST(Pack, AScribbledValueIsCorrupt) {
  const std::string plain = words(5000);
  for (const PackStep step : {PackStep::exact, PackStep::coarse}) {
    const Packed packed = pack(plain, step);
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1},
                                    packed.plain_size - 1, packed.plain_size + 1, most}) {
      EXPECT_EQ(said(unpack(packed.bytes, size)).substr(0, 7), "corrupt") << size;
    }
    const std::string_view whole = packed.bytes;
    for (const std::string& bytes :
         {std::string(), std::string(whole.substr(0, whole.size() / 2)),
          std::string(whole).append("x"), std::string(whole).append(256, '\0'), plain}) {
      EXPECT_EQ(said(unpack(bytes, packed.plain_size)).substr(0, 7), "corrupt") << bytes.size();
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string bytes(whole);
      bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
      const auto read = unpack(bytes, packed.plain_size);
      EXPECT_TRUE(read ? read->size() == plain.size() : read.error().code == Errc::corrupt);
    }
  }
}

// 16 MiB of zeros are packed in 16 KiB, and the row announces various sizes.
TEST(Pack, AHostileValueDoesNotGrowBeyondWhatItsRowAnnounces) {
  constexpr PackLimits limits;
  const Packed bomb = pack(std::string(limits.plain_max, '\0'), PackStep::exact);
  ASSERT_LT(bomb.bytes.size(), 20'000U);
  for (const std::int64_t size : {1 << 10, 1 << 20, (16 << 20) - 1, (16 << 20) + 1, 64 << 20}) {
    EXPECT_EQ(said(unpack(bomb.bytes, size)).substr(0, 7), "corrupt") << size;
  }
  EXPECT_EQ(said(unpack(std::string(1000, '\0'), 2'000'000)),
            "corrupt: packed bytes with an impossible size");
}

}  // namespace
}  // namespace holdfast::store
