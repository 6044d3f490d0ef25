#include "agent/node/kubelet/kubelet_call.h"

#include <vector>

#include "platform/text.h"

namespace holdfast::agent::node {

KubeletAnswer<KubeletCall> parse_kubelet_call(const http::Request& request) {
  std::vector<std::string> parts;
  if (!request.path().starts_with('/')) {
    return tl::unexpected(KubeletRefusal{404, "404 page not found\n"});
  }
  for (const std::string_view part : split(request.path().substr(1), '/')) {
    auto decoded = percent_decode(part, false);
    if (!decoded) return tl::unexpected(KubeletRefusal{400, decoded.error().what});
    parts.push_back(*std::move(decoded));
  }
  auto query = Query::parse(request.query());
  if (!query) return tl::unexpected(KubeletRefusal{400, query.error().what});
  KubeletCall call{.verb = parts.front()};
  call.query = *std::move(query);
  if (parts.size() > 1) call.name_space = parts[1];
  if (parts.size() > 2) call.pod = parts[2];
  if (parts.size() > 3) call.container = parts[3];
  const std::size_t wanted = call.verb == "containerLogs" || call.verb == "exec" ? 4
                             : call.verb == "portForward"                        ? 3
                                                                                 : 0;
  if (parts.size() != wanted) return tl::unexpected(KubeletRefusal{404, "404 page not found\n"});
  return call;
}

KubeletAnswer<bool> check_spdy(const http::Request& request, std::string_view protocol) {
  if (!equals_ignoring_case(request.headers.get("Upgrade"), "SPDY/3.1")) {
    return tl::unexpected(KubeletRefusal{
        400, "unable to upgrade: missing upgrade headers: WebSocket or SPDY/3.1 is needed"});
  }
  for (const http::Header& header : request.headers) {
    if (!equals_ignoring_case(header.name, "X-Stream-Protocol-Version")) continue;
    for (const std::string_view offered : split(header.value, ',')) {
      if (trim(offered) == protocol) return true;
    }
  }
  return tl::unexpected(KubeletRefusal{
      403, "unable to upgrade: X-Stream-Protocol-Version does not name " + std::string(protocol)});
}

http::Headers spdy_headers(std::string_view protocol) {
  return {{"Connection", "Upgrade"},
          {"Upgrade", "SPDY/3.1"},
          {"X-Stream-Protocol-Version", std::string(protocol)}};
}

}  // namespace holdfast::agent::node
