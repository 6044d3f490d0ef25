#include "sync/objects/version.h"

namespace holdfast::sync::objects {
namespace {

TEST(Version, OnlyPlainNumbersAreVersions) {
  struct Case {
    std::string_view text;
    std::optional<Version> version;
    bool local;
  };
  const Case cases[] = {
      {"0", 0, false},
      {"1", 1, false},
      {"007", 7, false},
      {"4611686018427387903", first_local_version - 1, false},
      {"4611686018427387904", first_local_version, true},
      {"18446744073709551615", ~Version{0}, true},
      {"18446744073709551616", std::nullopt, false},
      {"", std::nullopt, false},
      {"-1", std::nullopt, false},
      {"+1", std::nullopt, false},
      {" 1", std::nullopt, false},
      {"1 ", std::nullopt, false},
      {"0x10", std::nullopt, false},
      {"1e3", std::nullopt, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(parse_version(c.text), c.version) << c.text;
    EXPECT_EQ(is_local_version(c.text), c.local) << c.text;
  }
}

}  // namespace
}  // namespace holdfast::sync::objects
