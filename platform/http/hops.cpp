#include "platform/http/hops.h"

#include <algorithm>
#include <array>

#include "platform/text.h"

namespace holdfast::http {
namespace {

template <std::size_t size>
bool is_among(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [name](std::string_view known) { return equals_ignoring_case(known, name); });
}

bool is_end_to_end(std::string_view name) {
  constexpr std::array<std::string_view, 2> names{"host", "accept"};
  return is_about_caller(name) || is_among(names, name) || to_lower(name).starts_with("content-");
}

bool is_other_http(std::string_view protocol) {
  const std::string lower = to_lower(trim(protocol));
  return lower.starts_with("h2") || lower.starts_with("http/") || lower.starts_with("tls/");
}

// The protocols of all Upgrade headers that may be passed on, such as "websocket".
std::string upgrade_of(const Headers& headers) {
  std::vector<std::string> kept;
  for (const Header& header : headers) {
    if (!equals_ignoring_case(header.name, "upgrade")) continue;
    for (const std::string_view protocol : split(header.value, ',')) {
      if (!is_other_http(protocol)) kept.emplace_back(trim(protocol));
    }
  }
  return join(kept, ", ");
}

}  // namespace

bool is_hop_by_hop(std::string_view name) {
  constexpr std::array<std::string_view, 12> names{
      "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
      "te",         "trailer",    "trailers",           "transfer-encoding",   "content-length",
      "upgrade",    "expect"};
  return is_among(names, name);
}

bool is_about_caller(std::string_view name) {
  return equals_ignoring_case(name, "authorization") || equals_ignoring_case(name, "cookie") ||
         is_impersonation(name);
}

bool is_impersonation(std::string_view name) {
  const std::string lower = to_lower(name);
  return lower.starts_with("impersonate-") || lower.starts_with("x-remote-");
}

bool asks_for_upgrade(const Headers& headers) { return !upgrade_of(headers).empty(); }

void drop_hop_by_hop(Headers& headers, bool keep_upgrade) {
  const std::string upgrade = keep_upgrade ? upgrade_of(headers) : std::string();
  std::vector<std::string> dropped;
  for (const Header& header : headers) {
    if (is_hop_by_hop(header.name)) dropped.push_back(header.name);
    if (!equals_ignoring_case(header.name, "connection")) continue;
    for (const std::string_view named : split(header.value, ',')) {
      if (!is_end_to_end(trim(named))) dropped.emplace_back(trim(named));
    }
  }
  for (const std::string& name : dropped) headers.remove(name);
  if (upgrade.empty()) return;
  headers.add("Connection", "Upgrade");
  headers.add("Upgrade", upgrade);
}

}  // namespace holdfast::http
