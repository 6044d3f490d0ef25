#include "agent/lab/cluster/access.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/fs/descriptor.h"
#include "platform/fs/errno.h"

namespace holdfast::agent::lab::cluster {

std::vector<std::string> as_arguments(const Flags& flags) {
  std::vector<std::string> arguments;
  arguments.reserve(flags.size());
  for (const auto& [name, value] : flags) arguments.push_back("--" + name + "=" + value);
  return arguments;
}

std::string kubeconfig(std::uint16_t port, const std::string& token, const std::string& ca_file) {
  const std::string scheme = ca_file.empty() ? "http" : "https";
  const std::string authority = ca_file.empty() ? "" : "\n    certificate-authority: " + ca_file;
  return "apiVersion: v1\nkind: Config\ncurrent-context: lab\n"
         "clusters:\n- name: lab\n  cluster:\n    server: " +
         scheme + "://127.0.0.1:" + std::to_string(port) + authority +
         "\ncontexts:\n- name: lab\n  context:\n    cluster: lab\n    user: lab\n"
         "users:\n- name: lab\n  user:\n    token: " +
         token + "\n";
}

Result<std::uint16_t> free_port() {
  // Below the ports that the kernel gives to connections (net.ipv4.ip_local_port_range): one of
  // them could take the port before its program listens on it.
  constexpr std::uint32_t first = 20'000;
  constexpr std::uint32_t count = 12'000;
  // The next one each time, so that two nodes never get the same; another process begins elsewhere.
  static std::uint32_t next = static_cast<std::uint32_t>(::getpid()) * 97;
  Status last;
  for (std::uint32_t tried = 0; tried < count; ++tried) {
    const auto port = static_cast<std::uint16_t>(first + next++ % count);
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* address = reinterpret_cast<sockaddr*>(&at);  // NOLINT: as bind(2) wants it
    if (bind(socket.get(), address, sizeof at) == 0) return port;
    last = fail_errno("find a free port");
  }
  return fail(last.error());
}

}  // namespace holdfast::agent::lab::cluster
