// Reads and sets what TLS peers exchange besides data: identities (certificates, SNI), protocols
// (ALPN) and the end of the stream (close_notify).

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

struct ssl_st;

namespace holdfast::tls {

// Reads common name and organizations of the peer certificate's subject; leaves them unchanged if
// there is no certificate.
void read_peer_names(ssl_st* session, std::string& common_name,
                     std::vector<std::string>& organizations);

// Sets the server name to send (SNI), by which a server with several certificates chooses one.
void set_server_name(ssl_st* session, const std::string& host);

// Encodes protocol names as in a handshake (RFC 7301): a length byte before each name.
[[nodiscard]] std::string protocol_list(std::span<const std::string_view> names);

// Offers these protocols to the server (ALPN) in order of preference.
void offer_protocols(ssl_st* session, std::span<const std::string_view> names);

// The negotiated protocol; empty if there was no negotiation.
[[nodiscard]] std::string agreed_protocol(const ssl_st* session);

// Returns the bytes of close_notify, which tells the peer that we send nothing more; send them
// after all other data. Reading remains possible. "" if it was taken before or the session is
// broken.
[[nodiscard]] std::string take_close_notify(ssl_st* session);

// Returns `bytes` as TLS records; send them after all other data. "" if the session is broken.
[[nodiscard]] std::string seal_now(ssl_st* session, std::string_view bytes);

// Whether unread data or a close_notify of the peer has arrived in `session`.
[[nodiscard]] bool has_unread(ssl_st* session);

}  // namespace holdfast::tls
