#include "platform/http/h2/fields.h"

#include <algorithm>
#include <array>

#include "platform/http/wire.h"
#include "platform/text.h"

namespace holdfast::http::h2 {
namespace {

constexpr std::string_view scheme = "https";

// RFC 9113, 8.2.2; the length is told anew.
bool is_of_connection(std::string_view name) {
  constexpr std::array<std::string_view, 8> names{
      "connection", "keep-alive",        "host",          "proxy-connection", "te",
      "upgrade",    "transfer-encoding", "content-length"};
  return std::any_of(names.begin(), names.end(),
                     [name](std::string_view known) { return equals_ignoring_case(known, name); });
}

std::string clean(std::string_view value) {
  std::string text(value);
  for (char& c : text) {
    const auto code = static_cast<unsigned char>(c);
    if ((code < 0x20 && c != '\t') || code == 0x7f) c = ' ';
  }
  return std::string(trim(text));
}

void add_all(Headers& fields, const Headers& headers) {
  for (const Header& header : headers) {
    const bool odd = header.name.empty() || header.name.front() == ':';
    if (!odd && !is_of_connection(header.name))
      fields.add(to_lower(header.name), clean(header.value));
  }
}

}  // namespace

Headers request_fields(const Request& request, std::string_view authority) {
  const std::string_view host = request.headers.get("host");
  const bool other = request.method == Method::other;
  Headers fields;
  fields.add(":method", other ? request.method_text : std::string(to_string(request.method)));
  fields.add(":scheme", std::string(scheme));
  fields.add(":authority", clean(host.empty() ? authority : host));
  fields.add(":path", clean(request.target));
  add_all(fields, request.headers);
  const bool may_have_body = request.method != Method::get && request.method != Method::head;
  if (!request.body.empty() || may_have_body) {
    fields.add("content-length", std::to_string(request.body.size()));
  }
  return fields;
}

Result<Request> to_request(const Headers& fields) {
  Request request;
  request.method_text = std::string(fields.get(":method"));
  request.method = parse_method(request.method_text);
  request.target = std::string(fields.get(":path"));
  if (!request.target.starts_with('/')) {
    return fail(Errc::invalid, "not a request for a path: \"" + request.target + "\"");
  }
  const std::string_view authority = fields.get(":authority");
  if (!authority.empty()) request.headers.add("host", std::string(authority));
  for (const Header& field : fields) {
    const bool again = field.name == "host" && !authority.empty();
    if (!field.name.starts_with(':') && !again) request.headers.add(field.name, field.value);
  }
  return request;
}

Headers response_fields(const Response& response) {
  Headers fields;
  fields.add(":status", std::to_string(response.status));
  add_all(fields, response.headers);
  if (!response.stream && !has_no_body(response.status)) {
    fields.add("content-length", std::to_string(response.body.size()));
  }
  return fields;
}

Response to_response(Headers fields) {
  Response response;
  response.status = parse_int<int>(fields.get(":status")).value_or(0);
  fields.remove(":status");
  response.headers = std::move(fields);
  return response;
}

}  // namespace holdfast::http::h2
