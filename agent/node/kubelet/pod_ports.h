// Finds out whether a pod itself listens on a port.
//
// All pods of the process runtime share the network of the machine. Without this check, whoever may
// forward a port of one pod would reach every port of the node, among them those that trust
// holdfast-node by its uid.
//
// Threading: any thread. Reads /proc; some milliseconds on a machine with a thousand processes.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::agent::node {

// A listening socket: an address of this machine to connect to, and the socket's inode.
struct ListeningSocket {
  std::string address;
  std::uint64_t inode = 0;

  bool operator==(const ListeningSocket&) const = default;
};

// The sockets in the text of /proc/net/tcp or tcp6 that listen on the port of loopback or of all
// addresses. Lines that cannot be read are skipped.
[[nodiscard]] std::vector<ListeningSocket> listening_sockets(std::string_view table,
                                                             std::uint16_t port);

// The address at which one of these process groups, or a descendant of their leaders, listens on
// the port; nothing if none does.
[[nodiscard]] std::optional<std::string> address_of_listener(std::uint16_t port,
                                                             const std::vector<pid_t>& leaders);

}  // namespace holdfast::agent::node
