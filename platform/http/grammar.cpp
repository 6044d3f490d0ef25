#include "platform/http/grammar.h"

#include <algorithm>

#include "platform/text.h"

namespace holdfast::http {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_control(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 || code == 0x7f;
}

bool is_token_char(char c) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return is_alnum(c) || others.find(c) != std::string_view::npos;
}

bool is_host_char(char c) {
  constexpr std::string_view others = "-._~:[]%";
  return is_alnum(c) || others.find(c) != std::string_view::npos;
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool is_field_value(std::string_view text) {
  if (text.empty()) return true;
  if (is_blank(text.front()) || is_blank(text.back())) return false;
  return std::none_of(text.begin(), text.end(), [](char c) { return is_control(c) && c != '\t'; });
}

bool is_acceptable_target(std::string_view target) {
  return target.starts_with('/') && std::all_of(target.begin(), target.end(), [](char c) {
           return c > ' ' && c < '\x7f' && c != '#';
         });
}

bool is_host(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_host_char);
}

bool lists_token(std::string_view list, std::string_view token) {
  const auto parts = split(list, ',');
  return std::any_of(parts.begin(), parts.end(), [token](std::string_view part) {
    return equals_ignoring_case(trim(part), token);
  });
}

bool is_writable(const Header& header) {
  return is_token(header.name) && is_field_value(header.value);
}

Status check_writable(const Request& request) {
  if (request.method == Method::other && !is_token(request.method_text)) {
    return fail(Errc::invalid, "the request's method is not a token");
  }
  if (!is_acceptable_target(request.target)) {
    return fail(Errc::invalid, "the request's target has characters that HTTP forbids");
  }
  for (const Header& header : request.headers) {
    const bool host = equals_ignoring_case(header.name, "host");
    if (is_writable(header) && (!host || is_host(header.value))) continue;
    const std::string name = is_token(header.name) ? header.name : "with a malformed name";
    return fail(Errc::invalid,
                "the request's header " + name + " has characters that HTTP forbids");
  }
  return {};
}

}  // namespace holdfast::http
