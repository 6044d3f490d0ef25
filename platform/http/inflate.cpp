#include "platform/http/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "platform/check.h"
#include "platform/http/wire.h"
#include "platform/text.h"

namespace holdfast::http {

struct Inflater::Engine {
  z_stream stream = {};
};

namespace {

constexpr int gzip_only = 15 + 16;  // the largest window, and a gzip header instead of zlib's

Bytef* bytes_of(std::string& text) { return reinterpret_cast<Bytef*>(text.data()); }

// The decompressed bytes of a compressed stream.
class InflatedStream final : public BodyStream {
 public:
  InflatedStream(std::shared_ptr<BodyStream> from, const InflateLimits& limits,
                 std::shared_ptr<std::size_t> wire_bytes)
      : from_(std::move(from)), inflater_(limits), wire_bytes_(std::move(wire_bytes)) {}

  asio::awaitable<Result<std::string>> next() override {
    for (;;) {
      Result<std::string> plain = inflater_.next();
      if (!plain) from_->cancel();
      if (!plain || !plain->empty()) co_return plain;
      Result<std::string> piece = co_await from_->next();
      if (!piece) co_return piece;
      if (piece->empty()) co_return ended();
      *wire_bytes_ += piece->size();
      inflater_.give(*std::move(piece));
    }
  }

  void cancel() override { from_->cancel(); }

 private:
  [[nodiscard]] Result<std::string> ended() const {
    if (auto whole = inflater_.finish(); !whole) return fail(whole.error());
    return std::string();
  }

  std::shared_ptr<BodyStream> from_;
  Inflater inflater_;
  std::shared_ptr<std::size_t> wire_bytes_;
};

}  // namespace

Inflater::Inflater(const InflateLimits& limits)
    : limits_(limits), engine_(std::make_unique<Engine>()) {
  CHECK(inflateInit2(&engine_->stream, gzip_only) == Z_OK);
}

Inflater::~Inflater() { (void)inflateEnd(&engine_->stream); }

void Inflater::give(std::string compressed) {
  z_stream& stream = engine_->stream;
  CHECK(stream.avail_in == 0 && compressed.size() <= std::numeric_limits<uInt>::max());
  input_ = std::move(compressed);
  stream.next_in = bytes_of(input_);
  stream.avail_in = static_cast<uInt>(input_.size());
}

Status Inflater::step(std::string& out) {
  z_stream& stream = engine_->stream;
  if (between_ && stream.avail_in > 0) {
    // RFC 1952, 2.2: a gzip file may have several members, with nothing between them.
    if (inflateReset(&stream) != Z_OK) return fail(Errc::corrupt, "gzip: cannot begin a member");
    between_ = false;
  }
  const int result = ::inflate(&stream, Z_NO_FLUSH);
  between_ = result == Z_STREAM_END;
  out.resize(out.size() - stream.avail_out);
  if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR) return {};
  const std::string why = stream.msg == nullptr ? "invalid stream" : stream.msg;
  return fail(Errc::corrupt, "gzip: " + why);
}

Result<std::string> Inflater::next() {
  if (!failed_) return fail(failed_.error());
  z_stream& stream = engine_->stream;
  // Even without input there may be output that did not fit into the last piece.
  for (;;) {
    const bool idle = stream.avail_in == 0;
    if (idle && (between_ || input_.empty())) return std::string();
    std::string out(limits_.piece_bytes, '\0');
    stream.next_out = bytes_of(out);
    stream.avail_out = static_cast<uInt>(out.size());
    failed_ = step(out);
    produced_ += out.size();
    if (failed_ && produced_ > limits_.body_bytes) {
      failed_ = fail(Errc::exhausted, "gzip: the body is larger than " +
                                          std::to_string(limits_.body_bytes) + " bytes");
    }
    if (!failed_) return fail(failed_.error());
    if (!out.empty() || idle) return out;
  }
}

Status Inflater::finish() const {
  if (!failed_) return fail(failed_.error());
  if (between_) return {};
  return fail(Errc::corrupt, "gzip: the body ends before its stream does");
}

Result<std::string> inflate(std::string compressed, const InflateLimits& limits) {
  Inflater inflater(limits);
  inflater.give(std::move(compressed));
  std::string all;
  for (;;) {
    TRY(const std::string piece, inflater.next());
    if (piece.empty()) break;
    all += piece;
  }
  if (auto whole = inflater.finish(); !whole) return fail(whole.error());
  return all;
}

bool asks_for_gzip(const Headers& headers) {
  const auto codings = split(headers.get("Accept-Encoding"), ',');
  return std::any_of(codings.begin(), codings.end(),
                     [](std::string_view each) { return trim(each) == "gzip"; });
}

bool is_gzip(const Headers& headers) {
  return equals_ignoring_case(trim(headers.get("Content-Encoding")), "gzip");
}

Result<Response> inflated(Response response, const InflateLimits& limits) {
  if (!is_gzip(response.headers) || has_no_body(response.status)) return response;
  response.wire_bytes = std::make_shared<std::size_t>(response.body.size());
  if (response.stream) {
    response.stream =
        std::make_shared<InflatedStream>(std::move(response.stream), limits, response.wire_bytes);
  } else if (!response.body.empty()) {
    TRY(response.body, inflate(std::move(response.body), limits));
  }
  response.headers.remove("Content-Encoding");
  response.headers.remove("Content-Length");
  return response;
}

WireBytes::WireBytes(const Response& response)
    : compressed_(response.wire_bytes), counted_(compressed_ ? *compressed_ : 0) {}

std::size_t WireBytes::arrived(std::size_t plain) {
  if (!compressed_) return plain;
  return *compressed_ - std::exchange(counted_, *compressed_);
}

}  // namespace holdfast::http
