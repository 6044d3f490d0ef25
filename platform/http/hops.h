// Hop-by-hop headers: they concern one connection and not the message, and must not be forwarded
// (RFC 9110, 7.6.1).

#pragma once

#include <string_view>

#include "platform/http/message.h"

namespace holdfast::http {

// Connection, Keep-Alive, Proxy-Authenticate, Proxy-Authorization, Proxy-Connection, TE, Trailer,
// Transfer-Encoding, Content-Length (which the writer adds), Upgrade and Expect (which the
// receiving server answers).
[[nodiscard]] bool is_hop_by_hop(std::string_view name);

// Whether a header identifies the caller or the user it acts for: credentials (Authorization,
// Cookie) and impersonation (Impersonate-*, X-Remote-*).
[[nodiscard]] bool is_about_caller(std::string_view name);
// Whether a header makes the caller act as another user: Impersonate-*, X-Remote-*.
[[nodiscard]] bool is_impersonation(std::string_view name);

// Whether the headers ask for an upgrade that drop_hop_by_hop() would keep.
[[nodiscard]] bool asks_for_upgrade(const Headers& headers);

// Removes hop-by-hop headers and those that Connection lists. Connection cannot list caller
// headers, Host, Accept or Content-*: without them the next hop would treat the request as another
// user's, or as another request. With `keep_upgrade`, an Upgrade is kept and becomes the only
// element of Connection, unless it is to another HTTP version or to TLS, inside which a client
// would bypass every check here.
void drop_hop_by_hop(Headers& headers, bool keep_upgrade);

}  // namespace holdfast::http
