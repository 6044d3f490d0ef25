// Sealing: a value can be opened only with the same key and name.

#include "platform/tls/seal.h"

#include "platform/text.h"

namespace holdfast::tls {
namespace {

const std::string raw_key = "0123456789abcdef0123456789abcdef";

TEST(Seal, OpensWhatItSealed) {
  const SealKey key = SealKey::parse(raw_key).value();
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  for (const std::string& plain : {std::string(), std::string("secret"), every}) {
    const std::string sealed = key.seal(plain, "ns/name");
    EXPECT_EQ(sealed.size(), plain.size() + 28);
    EXPECT_EQ(key.open(sealed, "ns/name").value(), plain);
    EXPECT_EQ(key.seal(plain, "ns/name"), sealed)
        << "sealing is deterministic, so unchanged values need no write";
    EXPECT_NE(key.seal(plain, "ns/other"), sealed);
  }
  EXPECT_EQ(key.seal("secret", "n").find("secret"), std::string::npos);
}

TEST(Seal, AKeyIsRawOrInBase64) {
  const std::string sealed = SealKey::parse(raw_key)->seal("secret", "n");
  for (const std::string& text : {base64_encode(raw_key), "  " + base64_encode(raw_key) + "\n"}) {
    EXPECT_EQ(SealKey::parse(text)->open(sealed, "n").value(), "secret");
  }
  for (const std::string& text :
       {std::string(), std::string("short"), base64_encode("short"), std::string(31, 'x'),
        std::string(33, '!'), base64_encode(std::string(33, 'x'))}) {
    const auto key = SealKey::parse(text);
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().code, Errc::invalid);
    EXPECT_TRUE(text.size() < 5 || key.error().what.find(text) == std::string::npos);
  }
}

TEST(Seal, NothingElseOpensIt) {
  const SealKey key = SealKey::parse(raw_key).value();
  const SealKey other = SealKey::parse(std::string(32, 'x')).value();
  const std::string sealed = key.seal("secret", "n");
  EXPECT_EQ(other.open(sealed, "n").error().code, Errc::denied);
  EXPECT_EQ(key.open(sealed, "m").error().code, Errc::denied);
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string damaged = sealed;
    damaged[at] ^= 1;
    EXPECT_EQ(key.open(damaged, "n").error().code, Errc::denied) << at;
  }
  EXPECT_EQ(key.open(sealed.substr(0, 27), "n").error().code, Errc::corrupt);
  EXPECT_EQ(key.open("", "n").error().code, Errc::corrupt);
}

}  // namespace
}  // namespace holdfast::tls
