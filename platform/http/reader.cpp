#include "platform/http/reader.h"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <limits>
#include <optional>

#include "platform/check.h"
#include "platform/text.h"

namespace holdfast::http {
namespace {

namespace bhttp = boost::beast::http;
using boost::system::error_code;

template <class Fields>
Headers to_headers(const Fields& fields) {
  Headers headers;
  for (const auto& field : fields) {
    headers.add(std::string(field.name_string()), std::string(field.value()));
  }
  return headers;
}

template <class Parser>
void set_limits(Parser& parser, const ReaderLimits& limits) {
  parser.eager(true);
  parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser.body_limit(limits.body_bytes);
}

// Whether a chunk of the body has begun. Stays where it is: the parser knows its address.
struct Chunks {
  bool begun = false;
  std::function<void(std::uint64_t, boost::beast::string_view, error_code&)> begin =
      [this](std::uint64_t, boost::beast::string_view, error_code&) { begun = true; };
};

// Beast 1.81 stops the process when the only chunk of an empty body comes in pieces of which the
// second ends before its last byte. Until a chunk has begun it is given none that could be such.
template <class Parser>
bool is_too_early(const Parser& parser, const Chunks& chunks, std::size_t pending) {
  constexpr std::string_view shortest = "0\r\n\r\n";
  return parser.is_header_done() && parser.chunked() && !chunks.begun && pending < shortest.size();
}

// Gives the parser what is pending; what it did not use stays.
template <class Parser>
error_code feed(Parser& parser, const Chunks& chunks, std::string& pending) {
  error_code ec;
  while (!pending.empty() && !parser.is_done()) {
    if (is_too_early(parser, chunks, pending.size())) return {};
    const std::size_t used = parser.put(boost::asio::buffer(pending), ec);
    pending.erase(0, used);
    if (ec == bhttp::error::need_more) return {};
    if (ec || used == 0) break;
  }
  return ec;
}

bool over_limit(const error_code& ec) {
  return ec == bhttp::error::body_limit || ec == bhttp::error::header_limit;
}

}  // namespace

struct RequestReader::Impl {
  using Parser = bhttp::request_parser<bhttp::string_body>;

  ReaderLimits limits;
  std::string pending;
  Chunks chunks;
  std::optional<Parser> parser;
  bool begun = false;
  bool expectation_taken = false;
  int refusal = 400;

  void restart() {
    parser.emplace();
    set_limits(*parser, limits);
    chunks.begun = false;
    parser->on_chunk_header(chunks.begin);
    begun = !pending.empty();
    expectation_taken = false;
  }
};

RequestReader::RequestReader(ReaderLimits limits) : impl_(std::make_unique<Impl>()) {
  impl_->limits = limits;
  impl_->restart();
}
RequestReader::~RequestReader() = default;
RequestReader::RequestReader(RequestReader&&) noexcept = default;

Status RequestReader::put(std::string_view bytes) {
  impl_->pending += bytes;
  impl_->begun = impl_->begun || !impl_->pending.empty();
  const error_code ec = feed(*impl_->parser, impl_->chunks, impl_->pending);
  if (!ec) return {};
  if (ec == bhttp::error::body_limit) impl_->refusal = 413;
  if (ec == bhttp::error::header_limit) impl_->refusal = 431;
  return fail(over_limit(ec) ? Errc::exhausted : Errc::invalid, "request: " + ec.message(), ec);
}

bool RequestReader::begun() const { return impl_->begun; }
bool RequestReader::done() const { return impl_->parser->is_done(); }
int RequestReader::refusal() const { return impl_->refusal; }

bool RequestReader::take_expectation() {
  if (impl_->expectation_taken || done() || !impl_->parser->is_header_done()) return false;
  impl_->expectation_taken = true;
  return equals_ignoring_case(impl_->parser->get()[bhttp::field::expect], "100-continue");
}

Request RequestReader::take(bool& keep_alive) {
  CHECK(done());
  keep_alive = impl_->parser->keep_alive();
  auto message = impl_->parser->release();
  Request request;
  request.method_text = std::string(message.method_string());
  request.method = parse_method(request.method_text);
  request.target = std::string(message.target());
  request.headers = to_headers(message);
  request.body = std::move(message.body());
  impl_->restart();
  return request;
}

std::string RequestReader::take_rest() { return std::exchange(impl_->pending, {}); }

struct ResponseReader::Impl {
  Chunks chunks;
  bhttp::response_parser<bhttp::string_body> parser;
  std::string pending;
};

ResponseReader::ResponseReader(ReaderLimits limits, bool head_request)
    : impl_(std::make_unique<Impl>()) {
  set_limits(impl_->parser, limits);
  impl_->parser.skip(head_request);
  impl_->parser.on_chunk_header(impl_->chunks.begin);
}
ResponseReader::~ResponseReader() = default;
ResponseReader::ResponseReader(ResponseReader&&) noexcept = default;
ResponseReader& ResponseReader::operator=(ResponseReader&&) noexcept = default;

Status ResponseReader::put(std::string_view bytes) {
  impl_->pending += bytes;
  const error_code ec = feed(impl_->parser, impl_->chunks, impl_->pending);
  if (!ec) return {};
  return fail(over_limit(ec) ? Errc::exhausted : Errc::corrupt, "response: " + ec.message(), ec);
}

Status ResponseReader::put_end() {
  error_code ec;
  // Beast takes it for a bug of ours when a message ends before its first byte.
  const bool begun = impl_->parser.got_some();
  if (begun && !done()) impl_->parser.put_eof(ec);
  if (ec || !done()) return fail(Errc::unavailable, "the server closed the connection", ec);
  return {};
}

bool ResponseReader::header_done() const { return impl_->parser.is_header_done(); }
bool ResponseReader::done() const { return impl_->parser.is_done(); }
bool ResponseReader::keep_alive() const { return impl_->parser.keep_alive(); }

Response ResponseReader::head() const {
  const auto& message = impl_->parser.get();
  return Response{.status = static_cast<int>(message.result_int()), .headers = to_headers(message)};
}

std::string ResponseReader::take_body() { return std::exchange(impl_->parser.get().body(), {}); }

void ResponseReader::allow_endless_body() {
  impl_->parser.body_limit(std::numeric_limits<std::uint64_t>::max());
}

std::string ResponseReader::take_rest() { return std::exchange(impl_->pending, {}); }

}  // namespace holdfast::http
