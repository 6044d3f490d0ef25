#include "platform/http/spdy/header_codec.h"

#include <zlib.h>

#include <array>

#include "platform/check.h"
#include "platform/http/spdy/numbers.h"
#include "platform/text.h"

namespace holdfast::http::spdy {
namespace {

constexpr std::size_t fields_max = 64;

// The protocol's dictionary: words with their lengths, and a text.
constexpr std::string_view words[] = {"options",
                                      "head",
                                      "post",
                                      "put",
                                      "delete",
                                      "trace",
                                      "accept",
                                      "accept-charset",
                                      "accept-encoding",
                                      "accept-language",
                                      "accept-ranges",
                                      "age",
                                      "allow",
                                      "authorization",
                                      "cache-control",
                                      "connection",
                                      "content-base",
                                      "content-encoding",
                                      "content-language",
                                      "content-length",
                                      "content-location",
                                      "content-md5",
                                      "content-range",
                                      "content-type",
                                      "date",
                                      "etag",
                                      "expect",
                                      "expires",
                                      "from",
                                      "host",
                                      "if-match",
                                      "if-modified-since",
                                      "if-none-match",
                                      "if-range",
                                      "if-unmodified-since",
                                      "last-modified",
                                      "location",
                                      "max-forwards",
                                      "pragma",
                                      "proxy-authenticate",
                                      "proxy-authorization",
                                      "range",
                                      "referer",
                                      "retry-after",
                                      "server",
                                      "te",
                                      "trailer",
                                      "transfer-encoding",
                                      "upgrade",
                                      "user-agent",
                                      "vary",
                                      "via",
                                      "warning",
                                      "www-authenticate",
                                      "method",
                                      "get",
                                      "status",
                                      "200 OK",
                                      "version",
                                      "HTTP/1.1",
                                      "url",
                                      "public",
                                      "set-cookie",
                                      "keep-alive",
                                      "origin"};
constexpr std::string_view dictionary_text =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 "
    "Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service "
    "UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, "
    "Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/"
    "xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8"
    "charset=iso-8859-1,utf-,*,enq=0.";

std::string make_dictionary() {
  std::string made;
  for (const std::string_view word : words) {
    put_number(made, word.size(), 4);
    made += word;
  }
  return made.append(dictionary_text);
}

const std::string& dictionary() {
  static const std::string made = make_dictionary();
  return made;
}

Bytef* bytes_of(std::string_view text) {
  // zlib's interface is not const, but it only reads.
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT
}

// Takes a text with its length in four bytes from the front.
Result<std::string> take_text(std::string_view& from) {
  if (from.size() < 4) return fail(Errc::corrupt, "SPDY: headers end too early");
  const std::size_t length = read_number(from.substr(0, 4));
  from.remove_prefix(4);
  if (length > from.size()) return fail(Errc::corrupt, "SPDY: a header ends too late");
  std::string text(from.substr(0, length));
  from.remove_prefix(length);
  return text;
}

Result<Headers> parse_fields(std::string_view bytes) {
  if (bytes.size() < 4) return fail(Errc::corrupt, "SPDY: headers end too early");
  const std::uint32_t count = read_number(bytes.substr(0, 4));
  bytes.remove_prefix(4);
  if (count > fields_max) return fail(Errc::exhausted, "SPDY: too many headers");
  Headers headers;
  for (std::uint32_t i = 0; i < count; ++i) {
    TRY(std::string name, take_text(bytes));
    TRY(std::string value, take_text(bytes));
    headers.add(std::move(name), std::move(value));
  }
  if (!bytes.empty()) return fail(Errc::corrupt, "SPDY: bytes after the headers");
  return headers;
}

}  // namespace

struct HeaderDecoder::Engine {
  z_stream stream = {};
};

HeaderDecoder::HeaderDecoder(std::size_t header_bytes)
    : engine_(std::make_unique<Engine>()), header_bytes_(header_bytes) {
  CHECK(inflateInit(&engine_->stream) == Z_OK);
}

HeaderDecoder::~HeaderDecoder() { (void)inflateEnd(&engine_->stream); }

Result<Headers> HeaderDecoder::decode(std::string_view block) {
  z_stream& stream = engine_->stream;
  stream.next_in = bytes_of(block);
  stream.avail_in = static_cast<uInt>(block.size());
  std::string out;
  std::array<char, 4096> piece{};
  for (;;) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    int done = inflate(&stream, Z_SYNC_FLUSH);
    if (done == Z_NEED_DICT) {
      done = inflateSetDictionary(&stream, bytes_of(dictionary()),
                                  static_cast<uInt>(dictionary().size()));
      if (done == Z_OK) continue;
    }
    // Z_BUF_ERROR: nothing is left to do.
    if (done != Z_OK && done != Z_BUF_ERROR) {
      return fail(Errc::corrupt, "SPDY: headers are not compressed correctly");
    }
    const std::size_t count = piece.size() - stream.avail_out;
    if (out.size() + count > header_bytes_) {
      return fail(Errc::exhausted,
                  "SPDY: headers of more than " + std::to_string(header_bytes_) + " bytes");
    }
    out.append(piece.data(), count);
    if (stream.avail_out > 0) break;
  }
  return parse_fields(out);
}

struct HeaderEncoder::Engine {
  z_stream stream = {};
};

HeaderEncoder::HeaderEncoder() : engine_(std::make_unique<Engine>()) {
  CHECK(deflateInit(&engine_->stream, Z_BEST_SPEED) == Z_OK);
  CHECK(deflateSetDictionary(&engine_->stream, bytes_of(dictionary()),
                             static_cast<uInt>(dictionary().size())) == Z_OK);
}

HeaderEncoder::~HeaderEncoder() { (void)deflateEnd(&engine_->stream); }

std::string HeaderEncoder::encode(const Headers& headers) {
  std::string plain;
  put_number(plain, headers.size(), 4);
  for (const Header& header : headers) {
    put_number(plain, header.name.size(), 4);
    plain += to_lower(header.name);
    put_number(plain, header.value.size(), 4);
    plain += header.value;
  }
  z_stream& stream = engine_->stream;
  stream.next_in = bytes_of(plain);
  stream.avail_in = static_cast<uInt>(plain.size());
  std::string out;
  std::array<char, 1024> piece{};
  do {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    const int done = deflate(&stream, Z_SYNC_FLUSH);
    CHECK(done == Z_OK || done == Z_BUF_ERROR);
    out.append(piece.data(), piece.size() - stream.avail_out);
  } while (stream.avail_out == 0);
  return out;
}

}  // namespace holdfast::http::spdy
