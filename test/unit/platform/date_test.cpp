// Writing and parsing the Date header.

#include "platform/http/date.h"

namespace holdfast::http {
namespace {

TEST(HttpDate, IsWrittenAndRead) {
  const std::pair<const char*, const char*> cases[] = {
      {"1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT"},
      {"1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"},
      {"2024-02-29T23:59:59Z", "Thu, 29 Feb 2024 23:59:59 GMT"},
      {"2026-12-31T12:00:00Z", "Thu, 31 Dec 2026 12:00:00 GMT"},
  };
  for (const auto& [iso, text] : cases) {
    const WallTime time = parse_rfc3339(iso).value();
    EXPECT_EQ(format_date(time), text);
    EXPECT_EQ(parse_date(text).value(), time) << text;
  }
}

TEST(HttpDate, AnythingElseIsNone) {
  for (const std::string_view text :
       {"", "now", "Sun, 06 Nov 1994 08:49:37 UTC", "Mon, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994", "Sun, -6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT "}) {
    const auto time = parse_date(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code, Errc::invalid);
  }
}

}  // namespace
}  // namespace holdfast::http
