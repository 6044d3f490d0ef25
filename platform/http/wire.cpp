#include "platform/http/wire.h"

#include <array>
#include <charconv>

#include "platform/http/grammar.h"
#include "platform/http/hops.h"
#include "platform/text.h"

namespace holdfast::http {
namespace {

struct Phrase {
  int status;
  std::string_view text;
};

constexpr Phrase phrases[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "Request Entity Too Large"},
    {415, "Unsupported Media Type"},
    {422, "Unprocessable Entity"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {507, "Insufficient Storage"},
};

// Headers that describe the framing; they are never copied from the message.
bool is_framing(std::string_view name) {
  return equals_ignoring_case(name, "content-length") ||
         equals_ignoring_case(name, "transfer-encoding");
}

void put_line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void put_headers(std::string& out, const Headers& headers) {
  for (const Header& header : headers) {
    const bool written = !is_framing(header.name) && is_writable(header);
    if (written) put_line(out, header.name, header.value);
  }
}

}  // namespace

std::string_view reason_phrase(int status) {
  for (const Phrase& phrase : phrases) {
    if (phrase.status == status) return phrase.text;
  }
  return {};
}

std::string response_head(const Response& response, Framing framing, bool keep_alive) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " ";
  out.append(reason_phrase(response.status)).append("\r\n");
  put_headers(out, response.headers);
  if (framing == Framing::length) {
    put_line(out, "Content-Length", std::to_string(response.body_size()));
  }
  if (framing == Framing::chunked) put_line(out, "Transfer-Encoding", "chunked");
  if (!keep_alive && !response.headers.has("connection")) put_line(out, "Connection", "close");
  return out += "\r\n";
}

Result<std::string> request_bytes(const Request& request, std::string_view host) {
  if (auto writable = check_writable(request); !writable) return fail(writable.error());
  const bool has_host = request.headers.has("host");
  if (!has_host && !is_host(host))
    return fail(Errc::invalid, "the server's name is not a valid host");
  Headers headers = request.headers;
  drop_hop_by_hop(headers, true);
  std::string out(request.method == Method::other ? std::string_view(request.method_text)
                                                  : to_string(request.method));
  out.append(" ").append(request.target).append(" HTTP/1.1\r\n");
  if (!has_host) put_line(out, "Host", host);
  put_headers(out, headers);
  const bool may_have_body = request.method != Method::get && request.method != Method::head;
  if (!request.body.empty() || may_have_body) {
    put_line(out, "Content-Length", std::to_string(request.body.size()));
  }
  out += "\r\n";
  return out += request.body;
}

std::string chunk(std::string_view piece) {
  std::array<char, 20> size{};
  const auto [end, ec] = std::to_chars(size.data(), size.data() + size.size(), piece.size(), 16);
  std::string out(size.data(), end);
  out.reserve(out.size() + piece.size() + 4);
  return out.append("\r\n").append(piece).append("\r\n");
}

}  // namespace holdfast::http
