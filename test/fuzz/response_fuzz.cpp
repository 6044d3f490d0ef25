// Responses from a hostile server: limits hold, the result does not depend on how the network
// splits the bytes, and a response that is accepted may be written again. The first byte selects
// the request.

#include "platform/check.h"
#include "platform/http/grammar.h"
#include "platform/http/reader.h"
#include "platform/http/wire.h"
#include "test/fuzz/pieces.h"

namespace holdfast::http {
namespace {

constexpr ReaderLimits limits{
    .header_bytes = 512,
    .body_bytes = 256,
    .header_fields = 16,
    .chunks = {.line_bytes = 64, .extension_bytes = 128, .trailer_bytes = 128},
    .interim_answers = 4};

struct Read {
  std::string end;  // "done", "open", or the error
  Response head;
  std::string body;
  std::string rest;
  bool keep_alive = false;
};

Read read(const std::vector<std::string_view>& pieces, Asked asked, bool hangs_up) {
  Read out;
  out.end = "open";
  ResponseReader reader(limits, asked);
  for (const std::string_view piece : pieces) {
    const bool was_done = reader.done();
    const Status put = reader.put(piece);
    if (!put) {
      CHECK(put.error().code == Errc::corrupt || put.error().code == Errc::exhausted);
      CHECK(!was_done);
      out.end = to_string(put.error().code);
      return out;
    }
  }
  if (reader.header_done()) out.head = reader.head();
  if (reader.done()) out.end = "done";
  out.keep_alive = reader.keep_alive();
  if (hangs_up && !reader.done() && reader.put_end()) out.end = "ended";
  out.body = reader.take_body();
  out.rest = reader.take_rest();
  return out;
}

void check_answer(const Read& answer, Asked asked) {
  CHECK(answer.body.size() <= limits.body_bytes);
  CHECK(answer.head.headers.size() <= limits.header_fields);
  if (answer.keep_alive) CHECK(answer.end == "done" && answer.rest.empty());
  if (answer.end != "done" && answer.end != "ended") return;
  const int status = answer.head.status;
  CHECK(status >= 200 || (status == 101 && asked.upgrade));
  if (asked.head || has_no_body(status) || status == 101) CHECK(answer.body.empty());
  for (const Header& header : answer.head.headers) CHECK(is_writable(header));
  if (status == 101) return;
  Response again = answer.head;
  again.body = answer.body;
  const std::string bytes = response_head(again, Framing::length, true) + again.body;
  if (has_no_body(status)) return;
  ResponseReader reader(ReaderLimits{}, {});
  CHECK(reader.put(bytes).has_value());
  CHECK(reader.done() && reader.take_body() == answer.body);
}

void check_bytes(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto mode = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  const Asked asked{.head = (mode & 1U) != 0, .upgrade = (mode & 2U) != 0};
  const bool hangs_up = (mode & 4U) != 0;
  const Read whole = read({bytes}, asked, hangs_up);
  const Read pieced = read(test::pieces(bytes), asked, hangs_up);
  CHECK(whole.end == pieced.end && whole.keep_alive == pieced.keep_alive);
  CHECK(whole.head.status == pieced.head.status && whole.head.headers == pieced.head.headers);
  CHECK(whole.body == pieced.body && whole.rest == pieced.rest);
  check_answer(whole, asked);
}

}  // namespace
}  // namespace holdfast::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdfast::http::check_bytes(holdfast::test::text_of(data, size));
  return 0;
}
