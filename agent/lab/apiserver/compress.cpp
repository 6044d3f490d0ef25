#include "agent/lab/apiserver/compress.h"

#include <zlib.h>

#include <limits>

#include "platform/check.h"
#include "platform/http/inflate.h"

namespace holdfast::agent::lab {
namespace {

std::string gzip(std::string& plain) {
  constexpr int level = 1;              // upstream's: fast
  constexpr int gzip_format = 15 + 16;  // the largest window, and a gzip header
  CHECK(plain.size() <= std::numeric_limits<uInt>::max());
  z_stream stream = {};
  CHECK(deflateInit2(&stream, level, Z_DEFLATED, gzip_format, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  (void)deflateEnd(&stream);
  return out;
}

}  // namespace

void maybe_compress(const http::Request& request, std::string_view verb, http::Response& response) {
  if (verb != "get" && verb != "list") return;
  if (response.stream || response.status != 200 || response.body.size() < compressed_from) return;
  if (!http::asks_for_gzip(request.headers)) return;
  response.body = gzip(response.body);
  response.headers.set("Content-Encoding", "gzip");
  response.headers.add("Vary", "Accept-Encoding");
}

}  // namespace holdfast::agent::lab
