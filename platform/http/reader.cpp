#include "platform/http/reader.h"

#include <limits>
#include <optional>

#include "platform/check.h"
#include "platform/http/head_reader.h"
#include "platform/http/wire.h"
#include "platform/text.h"

namespace holdfast::http {
namespace {

HeadLimits head_limits(const ReaderLimits& limits) {
  return {.bytes = limits.header_bytes, .fields = limits.header_fields};
}

// Buffers bytes that cannot be parsed yet. Errors: exhausted.
Status keep(std::string& pending, std::string_view bytes, const ReaderLimits& limits) {
  if (bytes.size() > limits.pending_bytes) {
    return fail(Errc::exhausted, "too many bytes beyond the message");
  }
  pending = std::string(bytes);
  return {};
}

}  // namespace

struct RequestReader::Impl {
  explicit Impl(ReaderLimits bounds) : limits(bounds) { restart(); }

  void restart() {
    head.emplace(HeadReader::Kind::request, head_limits(limits));
    body.reset();
    decoded.clear();
    begun = !pending.empty();
    accepted = !limits.stop_after_header;
    body_bytes_max = limits.body_bytes;
    expectation_taken = false;
  }

  Status advance(std::string_view& bytes);
  Status read_head(std::string_view& bytes);
  Status read_body(std::string_view& bytes);

  ReaderLimits limits;
  std::string pending;
  std::optional<HeadReader> head;
  Extent extent;
  std::optional<BodyReader> body;  // set when it may be read
  std::string decoded;
  std::size_t body_bytes_max = 0;
  bool begun = false;
  bool accepted = false;
  bool expectation_taken = false;
  int refusal = 400;
};

Status RequestReader::Impl::read_head(std::string_view& bytes) {
  const auto used = head->put(bytes);
  if (!used) {
    if (used.error().code == Errc::exhausted) refusal = 431;
    return fail("headers", used.error());
  }
  bytes.remove_prefix(*used);
  if (!head->done()) return {};
  TRY(extent, request_extent(head->head()));
  return {};
}

Status RequestReader::Impl::read_body(std::string_view& bytes) {
  if (!body) body.emplace(extent, limits.chunks, body_bytes_max);
  const auto used = body->put(bytes, decoded);
  if (!used) {
    refusal = body->refusal();
    return fail(used.error());
  }
  bytes.remove_prefix(*used);
  return {};
}

// Parses as much of `bytes` as possible, and leaves the rest in it.
Status RequestReader::Impl::advance(std::string_view& bytes) {
  begun = begun || !bytes.empty();
  if (!head->done()) {
    if (auto done = read_head(bytes); !done) return done;
  }
  if (!head->done() || !accepted) return {};
  return read_body(bytes);
}

RequestReader::RequestReader(ReaderLimits limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestReader::~RequestReader() = default;
RequestReader::RequestReader(RequestReader&&) noexcept = default;

Status RequestReader::put(std::string_view bytes) {
  Impl& impl = *impl_;
  // Only bytes that arrived after a request, or before accept_body(), are pending: seldom any.
  std::string joined;
  if (!impl.pending.empty()) {
    joined = std::exchange(impl.pending, {}).append(bytes);
    bytes = joined;
  }
  Status parsed = done() ? Status{} : impl.advance(bytes);
  if (!parsed) return fail("request", parsed.error());
  Status kept = keep(impl.pending, bytes, impl.limits);
  if (kept) return kept;
  impl.refusal = 413;
  return fail("request", kept.error());
}

bool RequestReader::begun() const { return impl_->begun; }
bool RequestReader::header_done() const { return impl_->head->done(); }
bool RequestReader::done() const { return impl_->body && impl_->body->done(); }
int RequestReader::refusal() const { return impl_->refusal; }

Request RequestReader::head() const {
  CHECK(header_done());
  const Head& head = impl_->head->head();
  return Request{.method = parse_method(head.method),
                 .target = head.target,
                 .headers = head.headers,
                 .method_text = head.method};
}

void RequestReader::accept_body(std::size_t body_bytes_max) {
  CHECK(header_done() && impl_->limits.stop_after_header && !impl_->accepted);
  impl_->accepted = true;
  impl_->body_bytes_max = body_bytes_max;
}

std::size_t RequestReader::body_size() const {
  return impl_->decoded.size() + impl_->pending.size();
}

bool RequestReader::take_expectation() {
  if (impl_->expectation_taken || done() || !header_done() || !impl_->accepted) return false;
  impl_->expectation_taken = true;
  const Head& head = impl_->head->head();
  return head.http11 && equals_ignoring_case(head.headers.get("expect"), "100-continue");
}

Request RequestReader::take(bool& keep_alive) {
  CHECK(done());
  keep_alive = wants_keep_alive(impl_->head->head());
  Head head = impl_->head->take();
  Request request{.method = parse_method(head.method),
                  .target = std::move(head.target),
                  .headers = std::move(head.headers),
                  .body = std::move(impl_->decoded),
                  .method_text = std::move(head.method)};
  impl_->restart();
  return request;
}

std::string RequestReader::take_rest() { return std::exchange(impl_->pending, {}); }

struct ResponseReader::Impl {
  Impl(ReaderLimits bounds, Asked question)
      : limits(bounds),
        asked(question),
        head(HeadReader::Kind::response, head_limits(bounds)),
        body_bytes_max(bounds.body_bytes) {}

  Status advance(std::string_view& bytes);
  Status read_head(std::string_view& bytes);
  Status take_head();

  ReaderLimits limits;
  Asked asked;
  HeadReader head;
  std::size_t interim = 0;         // interim (1xx) responses so far
  std::optional<BodyReader> body;  // set after the head of the final response
  std::uint64_t body_bytes_max;
  std::string decoded;
  std::string pending;
  bool keep_alive = false;
  bool ends_with_connection = false;
};

// Processes a complete head: skips an interim response, otherwise prepares the body.
Status ResponseReader::Impl::take_head() {
  const int status = head.head().status;
  // Checked even if no body follows: the next hop would act on these headers.
  TRY(const Extent extent, response_extent(head.head()));
  if (status < 200 && status != 101) {
    if (++interim > limits.interim_answers) {
      return fail(Errc::exhausted, "too many interim answers");
    }
    head = HeadReader(HeadReader::Kind::response, head_limits(limits));
    return {};
  }
  if (status == 101 && !asked.upgrade) {
    return fail(Errc::invalid, "an upgrade that was not requested");
  }
  const bool bodiless = asked.head || status == 101 || has_no_body(status);
  // A 204 with Content-Length or Transfer-Encoding may in fact send a body, although RFC 9110, 8.6
  // forbids both.
  const bool announced = extent.kind == Extent::Kind::chunked || extent.length > 0;
  ends_with_connection = !bodiless && extent.kind == Extent::Kind::until_end;
  const bool doubtful = (status == 204 && announced) || status == 101 || ends_with_connection;
  keep_alive = wants_keep_alive(head.head()) && !doubtful;
  body.emplace(bodiless ? Extent{} : extent, limits.chunks, body_bytes_max);
  return {};
}

Status ResponseReader::Impl::read_head(std::string_view& bytes) {
  while (!body && !bytes.empty()) {
    TRY(const std::size_t used, head.put(bytes));
    bytes.remove_prefix(used);
    if (!head.done()) return {};
    if (auto taken = take_head(); !taken) return taken;
  }
  return {};
}

Status ResponseReader::Impl::advance(std::string_view& bytes) {
  if (auto read = read_head(bytes); !read) return read;
  if (!body) return {};
  TRY(const std::size_t used, body->put(bytes, decoded));
  bytes.remove_prefix(used);
  return {};
}

ResponseReader::ResponseReader(ReaderLimits limits, Asked asked)
    : impl_(std::make_unique<Impl>(limits, asked)) {}
ResponseReader::~ResponseReader() = default;
ResponseReader::ResponseReader(ResponseReader&&) noexcept = default;
ResponseReader& ResponseReader::operator=(ResponseReader&&) noexcept = default;

Status ResponseReader::put(std::string_view bytes) {
  Impl& impl = *impl_;
  Status parsed = impl.advance(bytes);
  if (parsed && !bytes.empty()) {
    const std::string all = std::exchange(impl.pending, {}).append(bytes);
    parsed = keep(impl.pending, all, impl.limits);
  }
  if (parsed) return {};
  Error why = parsed.error();
  if (why.code == Errc::invalid) why.code = Errc::corrupt;
  return fail("response", std::move(why));
}

Status ResponseReader::put_end() {
  if (impl_->body && impl_->body->put_end()) return {};
  return fail(Errc::unavailable, "the server closed the connection");
}

bool ResponseReader::header_done() const { return impl_->body.has_value(); }
bool ResponseReader::done() const { return impl_->body && impl_->body->done(); }
bool ResponseReader::keep_alive() const {
  return done() && impl_->keep_alive && impl_->pending.empty();
}

Response ResponseReader::head() const {
  const Head& head = impl_->head.head();
  return Response{.status = head.status,
                  .headers = head.headers,
                  .ends_with_connection = impl_->ends_with_connection};
}

std::string ResponseReader::take_body() { return std::exchange(impl_->decoded, {}); }

void ResponseReader::allow_endless_body() {
  impl_->body_bytes_max = std::numeric_limits<std::uint64_t>::max();
  if (impl_->body) impl_->body->set_bytes_max(impl_->body_bytes_max);
}

std::string ResponseReader::take_rest() { return std::exchange(impl_->pending, {}); }

}  // namespace holdfast::http
