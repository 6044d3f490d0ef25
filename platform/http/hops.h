// Hop-by-hop headers: they are about one connection and not about the message, and must not be
// passed on (RFC 9110, 7.6.1).

#pragma once

#include <string_view>

#include "platform/http/message.h"

namespace holdfast::http {

// Connection, Keep-Alive, Proxy-Authenticate, Proxy-Authorization, Proxy-Connection, TE, Trailer,
// Transfer-Encoding, Content-Length (which is written anew), Upgrade and Expect (which the server
// that received it answers).
[[nodiscard]] bool is_hop_by_hop(std::string_view name);

// Whether a header says who asks or for whom: credentials (Authorization, Cookie) and impersonation
// (Impersonate-*, X-Remote-*).
[[nodiscard]] bool is_about_caller(std::string_view name);

// Whether the headers ask for an upgrade that drop_hop_by_hop() would keep.
[[nodiscard]] bool asks_for_upgrade(const Headers& headers);

// Removes hop-by-hop headers and those that Connection names. Connection cannot name headers that
// are about the caller, nor Host, Accept and Content-*: without them the next hop would take the
// request for somebody else's, or for another request. With `keep_upgrade` an Upgrade stays, alone
// in Connection, unless it is to another version of HTTP or to TLS, within which a client would
// bypass every check here.
void drop_hop_by_hop(Headers& headers, bool keep_upgrade);

}  // namespace holdfast::http
