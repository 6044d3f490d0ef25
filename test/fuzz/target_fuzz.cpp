// Targets as the agent builds them: decoding, encoding and parsing agree, and an accepted target
// never ends the request line or begins a second request.

#include "platform/check.h"
#include "platform/http/grammar.h"
#include "platform/http/h2/fields.h"
#include "platform/http/reader.h"
#include "platform/http/wire.h"
#include "platform/text.h"
#include "sync/objects/request_info.h"
#include "test/fuzz/pieces.h"

namespace holdfast::sync {
namespace {

// Checks that `bytes` are exactly one request, with this target.
void check_alone(const std::string& bytes, std::string_view target) {
  http::RequestReader reader{http::ReaderLimits{.header_bytes = 64UL * 1024}};
  CHECK(reader.put(bytes).has_value());
  CHECK(reader.done());
  bool keep_alive = false;
  CHECK(reader.take(keep_alive).target == target);
  CHECK(!reader.begun() && reader.take_rest().empty());
}

void check_written(std::string_view target) {
  const http::Request request{.target = std::string(target)};
  const auto bytes = http::request_bytes(request, "x");
  const auto fields = http::h2::request_fields(request, "x");
  const bool acceptable = http::is_acceptable_target(target);
  CHECK(bytes.has_value() == acceptable && fields.has_value() == acceptable);
  // Read without our checks: an accepted target must give one request, a refused one may be
  // malformed.
  const std::string line = "GET " + request.target + " HTTP/1.1\r\nHost: x\r\n\r\n";
  http::RequestReader reader{http::ReaderLimits{.header_bytes = 64UL * 1024}};
  const bool read = reader.put(line).has_value() && reader.done();
  if (acceptable) CHECK(read);
  if (!acceptable) return;
  check_alone(*bytes, target);
  const auto again = http::h2::to_request(*fields);
  CHECK(again.has_value() && again->target == target);
}

// A path keeps its meaning when it is written into a request.
void check_path(std::string_view path) {
  const auto info = objects::parse_request("GET", path, "");
  if (!info) return;
  const std::string target = objects::encode_path(info->path);
  CHECK(http::is_acceptable_target(target));
  auto again = objects::parse_request("GET", target, "");
  CHECK(again.has_value() && *again == *info);
  CHECK(objects::encode_path(again->path) == target);
  check_written(target);
}

// Any bytes may become a part of a path, a header's name or its value.
void check_part(std::string_view bytes) {
  const std::string encoded = percent_encode(bytes);
  const auto decoded = percent_decode(encoded, false);
  CHECK(decoded.has_value() && *decoded == bytes);
  CHECK(http::is_acceptable_target("/api/" + encoded));
  Query query;
  query.set("fieldSelector", std::string(bytes));
  CHECK(http::is_acceptable_target("/api?" + query.encode()));
  const auto asked = Query::parse(query.encode());
  CHECK(asked.has_value() && *asked == query);
}

// Whatever the headers contain, the result is exactly one request.
void check_header(std::string_view bytes) {
  const std::size_t colon = std::min(bytes.find(':'), bytes.size());
  const std::string name(bytes.substr(0, colon));
  const std::string value(bytes.substr(std::min(colon + 1, bytes.size())));
  const http::Request request{.target = "/a", .headers = {{name, value}}};
  const auto written = http::request_bytes(request, "x");
  const auto fields = http::h2::request_fields(request, "x");
  CHECK(written.has_value() == fields.has_value());
  if (written && written->size() < 60'000) check_alone(*written, "/a");
}

void check_all(std::string_view bytes) {
  check_written(bytes);
  check_path(bytes.substr(0, bytes.find('?')));
  check_part(bytes);
  check_header(bytes);
}

}  // namespace
}  // namespace holdfast::sync

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdfast::sync::check_all(holdfast::test::text_of(data, size));
  return 0;
}
