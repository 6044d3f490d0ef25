#include "platform/http/h2/fields.h"

#include "platform/http/grammar.h"
#include "platform/http/hops.h"
#include "platform/http/wire.h"
#include "platform/text.h"

namespace holdfast::http::h2 {
namespace {

constexpr std::string_view scheme = "https";

void add_all(Headers& fields, const Headers& headers) {
  for (const Header& header : headers) {
    const bool written = !is_hop_by_hop(header.name) &&
                         !equals_ignoring_case(header.name, "host") && is_writable(header);
    if (written) fields.add(to_lower(header.name), header.value);
  }
}

}  // namespace

Result<Headers> request_fields(const Request& request, std::string_view authority) {
  if (auto writable = check_writable(request); !writable) return fail(writable.error());
  const std::string_view host =
      request.headers.has("host") ? request.headers.get("host") : authority;
  if (!is_host(host)) return fail(Errc::invalid, "the server's name is not a valid host");
  const bool other = request.method == Method::other;
  Headers fields;
  fields.add(":method", other ? request.method_text : std::string(to_string(request.method)));
  fields.add(":scheme", std::string(scheme));
  fields.add(":authority", std::string(host));
  fields.add(":path", request.target);
  Headers headers = request.headers;
  drop_hop_by_hop(headers, false);
  add_all(fields, headers);
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
  if (!is_token(request.method_text)) return fail(Errc::invalid, "malformed method");
  if (!is_acceptable_target(request.target)) {
    return fail(Errc::invalid, "not a request for a path");
  }
  std::string_view host = fields.get(":authority");
  for (const Header& field : fields) {
    if (field.name.starts_with(':')) continue;
    if (field.name != "host") {
      request.headers.add(field.name, field.value);
      continue;
    }
    if (!host.empty() && host != field.value) return fail(Errc::invalid, "more than one host");
    host = field.value;
  }
  if (!is_host(host)) return fail(Errc::invalid, "malformed or missing host");
  request.headers.add("host", std::string(host));
  return request;
}

Headers response_fields(const Response& response) {
  Headers fields;
  fields.add(":status", std::to_string(response.status));
  add_all(fields, response.headers);
  if (!response.stream && !has_no_body(response.status)) {
    fields.add("content-length", std::to_string(response.body_size()));
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
