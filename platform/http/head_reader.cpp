#include "platform/http/head_reader.h"

#include <algorithm>

#include "platform/http/grammar.h"
#include "platform/text.h"

namespace holdfast::http {
namespace {

bool is_text(char c) {
  const auto code = static_cast<unsigned char>(c);
  return (code >= 0x20 && code != 0x7f) || c == '\t';
}

std::string_view trim_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Result<bool> parse_version(std::string_view text) {
  if (text == "HTTP/1.1") return true;
  if (text == "HTTP/1.0") return false;
  return fail(Errc::invalid, "not HTTP/1.1 or HTTP/1.0");
}

Status parse_request_line(std::string_view line, Head& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return fail(Errc::invalid, "malformed request line");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!is_token(method)) return fail(Errc::invalid, "malformed method");
  if (!is_acceptable_target(target)) return fail(Errc::invalid, "malformed target");
  TRY(head.http11, parse_version(line.substr(last + 1)));
  head.method = std::string(method);
  head.target = std::string(target);
  return {};
}

// "HTTP/1.1 200 OK"
Status parse_status_line(std::string_view line, Head& head) {
  constexpr std::size_t version_size = 8;
  constexpr std::size_t shortest = version_size + 5;  // " 200 "
  if (line.size() < shortest || line[version_size] != ' ' || line[shortest - 1] != ' ') {
    return fail(Errc::invalid, "malformed status line");
  }
  TRY(head.http11, parse_version(line.substr(0, version_size)));
  const std::string_view digits = line.substr(version_size + 1, 3);
  const bool number = std::all_of(digits.begin(), digits.end(), is_digit) && digits[0] != '0';
  if (!number) return fail(Errc::invalid, "malformed status");
  head.status = parse_int<int>(digits).value_or(0);
  return {};
}

std::size_t count(const Headers& headers, std::string_view name) {
  return static_cast<std::size_t>(std::count_if(
      headers.begin(), headers.end(),
      [name](const Header& header) { return equals_ignoring_case(header.name, name); }));
}

Result<std::uint64_t> parse_length(std::string_view text) {
  const bool digits = std::all_of(text.begin(), text.end(), is_digit);
  const auto length = parse_int<std::uint64_t>(text);
  if (!digits || !length) return fail(Errc::invalid, "malformed Content-Length");
  return *length;
}

// Whether every element of a list is a token or empty.
bool is_token_list(std::string_view list) {
  const auto parts = split(list, ',');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    const std::string_view element = trim_blanks(part);
    return element.empty() || is_token(element);
  });
}

bool is_about_connection(const Header& header) {
  return equals_ignoring_case(header.name, "connection") ||
         equals_ignoring_case(header.name, "proxy-connection");
}

// The common part for requests and responses; `otherwise` applies if the headers do not say where
// the body ends.
Result<Extent> extent_of(const Head& head, Extent::Kind otherwise) {
  for (const Header& header : head.headers) {
    const bool bad = is_about_connection(header) && !is_token_list(header.value);
    if (bad) return fail(Errc::invalid, "malformed Connection");
  }
  const std::size_t lengths = count(head.headers, "content-length");
  const std::size_t codings = count(head.headers, "transfer-encoding");
  if (codings > 0) {
    const bool chunked = equals_ignoring_case(head.headers.get("transfer-encoding"), "chunked");
    if (codings > 1 || !chunked || !head.http11) {
      return fail(Errc::invalid, "a Transfer-Encoding other than chunked");
    }
    if (lengths > 0) return fail(Errc::invalid, "both Transfer-Encoding and Content-Length");
    return Extent{Extent::Kind::chunked};
  }
  if (lengths > 1) return fail(Errc::invalid, "more than one Content-Length");
  if (lengths == 0) return Extent{otherwise};
  TRY(const std::uint64_t length, parse_length(head.headers.get("content-length")));
  return Extent{Extent::Kind::length, length};
}

}  // namespace

Result<std::size_t> LineReader::put(std::string_view bytes, std::size_t bytes_max) {
  constexpr std::size_t end_size = 2;
  if (std::exchange(complete_, false)) line_.clear();
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (ends_) {
      if (bytes[at] != '\n') return fail(Errc::invalid, "a bare CR");
      ends_ = false;
      complete_ = true;
      return at + 1;
    }
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto stop = std::find_if_not(from, bytes.end(), is_text);
    const auto run = static_cast<std::size_t>(stop - from);
    if (line_.size() + run + end_size > bytes_max) return fail(Errc::exhausted, "too long");
    line_.append(bytes.substr(at, run));
    at += run;
    if (at == bytes.size()) break;
    if (bytes[at] != '\r') return fail(Errc::invalid, "a control character or a bare LF");
    ends_ = true;
    ++at;
  }
  return at;
}

Result<std::pair<std::string_view, std::string_view>> parse_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  // A continuation line begins with a blank, which no name does; it is refused here.
  if (colon == std::string_view::npos || !is_token(name)) {
    return fail(Errc::invalid, "malformed header");
  }
  return std::pair(name, trim_blanks(line.substr(colon + 1)));
}

Result<std::size_t> HeadReader::put(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size() && !done_) {
    TRY(const std::size_t used, line_.put(bytes.substr(at), limits_.bytes - used_));
    at += used;
    if (!line_.complete()) break;
    used_ += line_.line().size() + 2;
    if (auto taken = take_line(line_.line()); !taken) return fail(taken.error());
  }
  return at;
}

Status HeadReader::take_line(std::string_view line) {
  if (!std::exchange(started_, true)) {
    return kind_ == Kind::request ? parse_request_line(line, head_)
                                  : parse_status_line(line, head_);
  }
  if (line.empty()) {
    done_ = true;
    return {};
  }
  if (head_.headers.size() == limits_.fields) return fail(Errc::exhausted, "too many headers");
  TRY(const auto field, parse_field(line));
  head_.headers.add(std::string(field.first), std::string(field.second));
  return {};
}

Result<Extent> request_extent(const Head& head) {
  const std::size_t hosts = count(head.headers, "host");
  if (hosts > 1 || (hosts == 0 && head.http11)) {
    return fail(Errc::invalid, "exactly one Host is needed");
  }
  if (hosts == 1 && !is_host(head.headers.get("host"))) {
    return fail(Errc::invalid, "malformed Host");
  }
  return extent_of(head, Extent::Kind::length);
}

Result<Extent> response_extent(const Head& head) {
  return extent_of(head, Extent::Kind::until_end);
}

bool wants_keep_alive(const Head& head) {
  bool closes = false;
  bool keeps = false;
  for (const Header& header : head.headers) {
    if (!equals_ignoring_case(header.name, "connection")) continue;
    closes = closes || lists_token(header.value, "close");
    keeps = keeps || lists_token(header.value, "keep-alive");
  }
  return !closes && (head.http11 || keeps);
}

}  // namespace holdfast::http
