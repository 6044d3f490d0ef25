#include "platform/http/host.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <string_view>

#include "platform/text.h"

namespace holdfast::http {

Status check_host(const Request& request, const std::vector<std::string>& names) {
  const std::string_view host = request.headers.get("host");
  // The caller chooses this text, and it is logged. A DNS name has at most 253 characters.
  constexpr std::size_t shown_max = 200;
  const auto refused = [host] {
    return fail(Errc::invalid, "the Host header does not name this listener: \"" +
                                   std::string(host.substr(0, shown_max)) + "\"");
  };
  const std::size_t colon = host.ends_with(']') ? host.npos : host.rfind(':');
  const bool with_port = colon != host.npos;
  std::string_view name = host.substr(0, colon);
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  if (with_port && host.substr(colon + 1) != std::to_string(request.peer.local_port)) {
    return refused();
  }
  boost::system::error_code ec;
  const auto own = asio::ip::make_address(request.peer.local_address, ec);
  if (ec) return refused();
  if (const auto literal = asio::ip::make_address(name, ec); !ec) {
    return literal == own ? Status() : refused();
  }
  const bool localhost = own.is_loopback() && equals_ignoring_case(name, "localhost");
  const auto same = [name](const std::string& known) { return equals_ignoring_case(known, name); };
  if (localhost || std::any_of(names.begin(), names.end(), same)) return {};
  return refused();
}

}  // namespace holdfast::http
