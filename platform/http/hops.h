// Headers that are about one connection between two neighbours and not about the message, which
// nobody may pass on (RFC 9110, 7.6.1).

#pragma once

#include <string_view>

#include "platform/http/message.h"

namespace holdfast::http {

// Connection, Keep-Alive, Proxy-*, TE, Trailer, Transfer-Encoding, Content-Length (which is told
// anew), Upgrade and Expect (which the server that received it answers).
[[nodiscard]] bool is_hop_by_hop(std::string_view name);

// Removes these and what Connection names. It cannot name what says who asks, for whom or for what,
// such as Authorization: without it the next hop would take the request for another one's.
// With `keep_upgrade` an Upgrade stays, alone in Connection, unless it is to another HTTP, within
// which a client would speak to the server past everything that is checked here.
void drop_hop_by_hop(Headers& headers, bool keep_upgrade);

}  // namespace holdfast::http
