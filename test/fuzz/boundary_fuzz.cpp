// Compares our HTTP/1.1 reader with Boost.Beast's parser: Beast must accept what ours accepts, and
// see the same message end at the same byte. Beast accepts more, in places where RFC 9112 permits
// either; that is safe, because ours refuses. The first byte of the input selects what is read.

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "platform/check.h"
#include "platform/http/reader.h"
#include "test/fuzz/pieces.h"

namespace holdfast::http {
namespace {

namespace beast = boost::beast::http;

constexpr std::size_t header_bytes = 4096;
constexpr std::size_t body_bytes = 4096;
constexpr ReaderLimits limits{.header_bytes = header_bytes, .body_bytes = body_bytes};

struct Seen {
  bool taken = false;  // a complete message was accepted
  std::string start;   // method and target, or the status
  std::string body;
  std::size_t size = 0;  // the message's size in bytes
};

template <class Parser>
Seen finish(Parser& parser, std::string_view bytes) {
  Seen seen;
  parser.eager(true);
  parser.header_limit(header_bytes);
  parser.body_limit(body_bytes);
  boost::system::error_code ec;
  // In one piece: Beast 1.81 aborts when the only chunk of an empty body comes in pieces.
  while (!ec && seen.size < bytes.size() && !parser.is_done()) {
    const std::size_t used =
        parser.put(boost::asio::buffer(bytes.data() + seen.size, bytes.size() - seen.size), ec);
    seen.size += used;
    if (used == 0) break;
  }
  seen.taken = !ec && parser.is_done();
  return seen;
}

Seen beast_request(std::string_view bytes) {
  beast::request_parser<beast::string_body> parser;
  Seen seen = finish(parser, bytes);
  if (!seen.taken) return seen;
  seen.start = std::string(parser.get().method_string()) + " " + std::string(parser.get().target());
  seen.body = parser.get().body();
  return seen;
}

Seen beast_response(std::string_view bytes, bool head) {
  beast::response_parser<beast::string_body> parser;
  parser.skip(head);
  Seen seen = finish(parser, bytes);
  if (!seen.taken) return seen;
  seen.start = std::to_string(parser.get().result_int());
  seen.body = parser.get().body();
  return seen;
}

Seen our_request(std::string_view bytes) {
  RequestReader reader(limits);
  Seen seen;
  seen.taken = reader.put(bytes).has_value() && reader.done();
  if (!seen.taken) return seen;
  bool keep_alive = false;
  const Request request = reader.take(keep_alive);
  seen.start = request.method_text + " " + request.target;
  seen.body = request.body;
  seen.size = bytes.size() - reader.take_rest().size();
  return seen;
}

Seen our_response(std::string_view bytes, bool head) {
  ResponseReader reader(limits, {.head = head, .upgrade = true});
  Seen seen;
  seen.taken = reader.put(bytes).has_value() && reader.done();
  if (!seen.taken) return seen;
  seen.start = std::to_string(reader.head().status);
  seen.body = reader.take_body();
  seen.size = bytes.size() - reader.take_rest().size();
  return seen;
}

// Beast does not skip interim responses, so each of them is parsed separately.
Seen beast_answer(std::string_view bytes, bool head) {
  std::size_t skipped = 0;
  for (;;) {
    Seen seen = beast_response(bytes.substr(skipped), head);
    const bool interim = seen.taken && seen.start.starts_with('1') && seen.start != "101";
    seen.size += skipped;
    if (!interim) return seen;
    skipped = seen.size;
  }
}

void check_bytes(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto mode = static_cast<unsigned char>(bytes.front()) % 3;
  bytes.remove_prefix(1);
  const Seen ours = mode == 0 ? our_request(bytes) : our_response(bytes, mode == 2);
  if (!ours.taken) return;
  const Seen theirs = mode == 0 ? beast_request(bytes) : beast_answer(bytes, mode == 2);
  CHECK(theirs.taken);
  CHECK(theirs.start == ours.start);
  CHECK(theirs.size == ours.size);
  CHECK(theirs.body == ours.body);
}

}  // namespace
}  // namespace holdfast::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdfast::http::check_bytes(holdfast::test::text_of(data, size));
  return 0;
}
