// The names that TLS peers show each other.

#pragma once

#include <string>
#include <vector>

struct ssl_st;

namespace holdfast::tls {

// Reads the subject's common name and organizations; leaves them empty without a certificate.
void read_peer_names(ssl_st* session, std::string& common_name,
                     std::vector<std::string>& organizations);

// Names the server we mean to reach (SNI), so that one that has several certificates picks ours.
void set_server_name(ssl_st* session, const std::string& host);

}  // namespace holdfast::tls
