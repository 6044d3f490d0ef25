#include "sync/autonomy/fault.h"

#include <algorithm>
#include <array>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/objects/request_info.h"

namespace holdfast::sync::autonomy {
namespace {

// The kind of answer that an API server gives for a path.
enum class Expected : std::uint8_t {
  document,  // an object, a list or a description of the API
  text,      // health, metrics or a container's log
  anything,  // whatever a proxied service answers
};

Expected expected_of(std::string_view path) {
  const auto request = objects::parse_request("GET", path, "");
  if (!request) return Expected::text;
  if (!request->is_resource) {
    constexpr std::array<std::string_view, 4> documents{"/version", "/api", "/apis", "/openapi"};
    const bool document = std::any_of(documents.begin(), documents.end(), [path](auto each) {
      return path == each || (path.starts_with(each) && path.substr(each.size()).starts_with('/'));
    });
    return document ? Expected::document : Expected::text;
  }
  if (request->subresource == "proxy") return Expected::anything;
  return request->subresource == "log" || request->is_connect() ? Expected::text
                                                                : Expected::document;
}

bool looks_like_markup(std::string_view body) {
  return trim(body.substr(0, 1024)).starts_with('<');
}

bool looks_like_document(std::string_view body) {
  const std::string_view start = trim(body.substr(0, 1024));
  return start.starts_with('{') || start.starts_with('[') ||
         body.starts_with(std::string_view("k8s\0", 4));
}

// Whether the body is a web page, according to its Content-Type or its first bytes.
bool is_page(Expected expected, std::string_view content_type, std::string_view body) {
  if (content_type.starts_with("text/html")) return true;
  if (content_type.starts_with("application/xhtml+xml")) return true;
  const bool type_tells = !content_type.empty() && (expected != Expected::document ||
                                                    content_type.starts_with("application/"));
  return !type_tells && looks_like_markup(body);
}

// Whether a 2xx answer to a request for a document contains one. kube-apiserver sends the index of
// /openapi/v3 as text/plain, so the body is checked, too. An answer to a HEAD has none.
bool is_document(std::string_view content_type, std::string_view body) {
  if (content_type.starts_with("application/")) return true;
  const bool may_be = content_type.empty() || content_type.starts_with("text/plain");
  return may_be && (body.empty() || looks_like_document(body));
}

// kube-apiserver's own 502 to 504 are never HTML, and those of a proxied service have an Audit-Id.
bool is_gateway_page(const AnswerHead& head) {
  return head.status >= 502 && head.status <= 504 && head.content_type.starts_with("text/html");
}

}  // namespace

std::string_view to_string(LinkFault fault) {
  switch (fault) {
    case LinkFault::refused:
      return "refused";
    case LinkFault::reset:
      return "reset";
    case LinkFault::timeout:
      return "timeout";
    case LinkFault::unreachable:
      return "unreachable";
    case LinkFault::dns:
      return "dns";
    case LinkFault::tls:
      return "tls";
    case LinkFault::credentials:
      return "credentials";
    case LinkFault::not_api_server:
      return "not_api_server";
    case LinkFault::overloaded:
      return "overloaded";
    case LinkFault::disk:
      return "disk";
    case LinkFault::other:
      return "other";
  }
  UNREACHABLE();
}

LinkFault fault_of(const Error& error) {
  const auto says = [&error](std::string_view words) {
    return error.what.find(words) != std::string::npos;
  };
  const std::error_code& cause = error.cause;
  if (std::string_view(cause.category().name()) == "sqlite") return LinkFault::disk;
  // A timeout while resolving a name counts as a DNS fault, so this comes first.
  if (says("resolve ")) return LinkFault::dns;
  if (error.code == Errc::timeout) return LinkFault::timeout;
  if (error.code == Errc::denied) return says("TLS ") ? LinkFault::tls : LinkFault::credentials;
  if (std::string_view(cause.category().name()) == "asio.ssl") return LinkFault::tls;
  if (error.code == Errc::corrupt) return LinkFault::not_api_server;
  if (cause == std::errc::connection_refused) return LinkFault::refused;
  if (cause == std::errc::network_unreachable || cause == std::errc::host_unreachable) {
    return LinkFault::unreachable;
  }
  const bool broke = cause == std::errc::connection_reset || cause == std::errc::broken_pipe ||
                     cause == std::errc::connection_aborted;
  if (broke) return LinkFault::reset;
  // Without a cause, the peer closed the connection in the middle of a message.
  return error.code == Errc::unavailable && !cause ? LinkFault::reset : LinkFault::other;
}

bool is_for_document(std::string_view target) {
  return expected_of(target.substr(0, target.find('?'))) == Expected::document;
}

std::optional<std::string> why_not_api_answer(std::string_view target, const AnswerHead& head,
                                              std::string_view body) {
  if (head.audited) return std::nullopt;
  if (head.verified && !is_gateway_page(head)) return std::nullopt;
  if (head.status == 511) return "the network asks for a login (511)";
  const Expected expected = expected_of(target.substr(0, target.find('?')));
  if (is_page(expected, head.content_type, body))
    return "answered with a web page: not an API server";
  const bool redirect = head.status >= 300 && head.status < 400 && head.status != 304;
  if (redirect && head.location.find("://") != std::string_view::npos) {
    return "redirected to another server: not an API server";
  }
  const bool success = head.status >= 200 && head.status < 300;
  if (success && expected == Expected::document && !is_document(head.content_type, body)) {
    std::string why = "answered with ";
    why += head.content_type.empty() ? "no Content-Type" : head.content_type;
    return why + ": not an API server";
  }
  return std::nullopt;
}

}  // namespace holdfast::sync::autonomy
