// The names that TLS peers show each other: who they are, whom they mean, what they speak.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

struct ssl_st;

namespace holdfast::tls {

// Reads the subject's common name and organizations; leaves them empty without a certificate.
void read_peer_names(ssl_st* session, std::string& common_name,
                     std::vector<std::string>& organizations);

// Names the server we mean to reach (SNI), so that one that has several certificates picks ours.
void set_server_name(ssl_st* session, const std::string& host);

// What protocols look like in a handshake (RFC 7301): each name after a byte with its length.
[[nodiscard]] std::string protocol_list(std::span<const std::string_view> names);

// Offers the server these protocols (ALPN), the liked ones first.
void offer_protocols(ssl_st* session, std::span<const std::string_view> names);

// The protocol that both sides agreed on; empty when nobody spoke of it.
[[nodiscard]] std::string agreed_protocol(const ssl_st* session);

// What tells the peer that nothing follows from us (close_notify), to be sent after all else; what
// he still has to say may be read. "" if it was taken before, or the session is broken.
[[nodiscard]] std::string take_goodbye(ssl_st* session);

// Whether something of the peer's has arrived in `session` and was not read: bytes, or its goodbye.
[[nodiscard]] bool has_unread(ssl_st* session);

}  // namespace holdfast::tls
