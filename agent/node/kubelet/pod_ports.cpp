#include "agent/node/kubelet/pod_ports.h"

#include <algorithm>
#include <map>
#include <system_error>

#include "platform/fs/file.h"
#include "platform/proc/identity.h"
#include "platform/text.h"

namespace holdfast::agent::node {
namespace {

constexpr std::size_t table_bytes_max = 64UL << 20;
constexpr std::size_t descriptors_max = 10'000;  // of one process
constexpr int generations_max = 64;

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t number = 0;
  if (text.empty() || text.size() > 16) return std::nullopt;
  for (const char c : text) {
    const bool digit = is_digit(c);
    if (!digit && (c < 'A' || c > 'F')) return std::nullopt;
    number = number * 16 + static_cast<std::uint64_t>(digit ? c - '0' : c - 'A' + 10);
  }
  return number;
}

// The kernel prints an IPv4 address as a number whose lowest byte is the first one.
std::string loopback_for(std::string_view local) {
  if (local == "00000000") return "127.0.0.1";
  if (local == std::string(32, '0') || local == "00000000000000000000000001000000") return "::1";
  const auto number = local.size() == 8 ? hexadecimal(local) : std::nullopt;
  if (!number || (*number & 0xff) != 127) return {};
  std::string text = "127";
  for (int shift = 8; shift < 32; shift += 8) {
    text += "." + std::to_string(*number >> shift & 0xff);
  }
  return text;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

struct Kin {
  pid_t parent = 0;
  pid_t group = 0;
};

std::map<pid_t, Kin> all_processes() {
  std::map<pid_t, Kin> found;
  for (const std::string& name : fs::list_dir("/proc").value_or(std::vector<std::string>())) {
    const auto pid = parse_int<pid_t>(name);
    if (!pid) continue;
    if (const auto stat = proc::read_stat(*pid)) found[*pid] = {stat->parent, stat->group};
  }
  return found;
}

bool is_of(pid_t pid, const std::map<pid_t, Kin>& all, const std::vector<pid_t>& leaders) {
  const auto leads = [&leaders](pid_t candidate) {
    return std::find(leaders.begin(), leaders.end(), candidate) != leaders.end();
  };
  for (int generation = 0; generation < generations_max; ++generation) {
    const auto found = all.find(pid);
    if (leads(pid)) return true;
    if (found == all.end()) return false;
    if (leads(found->second.group)) return true;
    pid = found->second.parent;
  }
  return false;
}

// The address of the socket among `sockets` that the process holds; "" if it holds none.
std::string held_by(pid_t pid, const std::vector<ListeningSocket>& sockets) {
  const fs::Path dir = fs::Path("/proc") / std::to_string(pid) / "fd";
  std::error_code ec;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator at(dir, ec), end; !ec && at != end; at.increment(ec)) {
    if (++count > descriptors_max) break;
    std::error_code gone;
    const std::string link = std::filesystem::read_symlink(at->path(), gone).string();
    if (gone || !link.starts_with("socket:[")) continue;
    for (const ListeningSocket& socket : sockets) {
      if (link == "socket:[" + std::to_string(socket.inode) + "]") return socket.address;
    }
  }
  return {};
}

}  // namespace

std::vector<ListeningSocket> listening_sockets(std::string_view table, std::uint16_t port) {
  constexpr std::string_view listen_state = "0A";
  constexpr std::size_t inode_word = 9;
  std::vector<ListeningSocket> found;
  for (const std::string_view line : split(table, '\n')) {
    const auto words = words_of(line);
    if (words.size() <= inode_word || words[3] != listen_state) continue;
    const std::size_t colon = words[1].rfind(':');
    if (colon == words[1].npos || hexadecimal(words[1].substr(colon + 1)) != port) continue;
    const auto inode = parse_int<std::uint64_t>(words[inode_word]);
    std::string address = loopback_for(words[1].substr(0, colon));
    if (inode && *inode != 0 && !address.empty()) found.push_back({std::move(address), *inode});
  }
  return found;
}

std::optional<std::string> address_of_listener(std::uint16_t port,
                                               const std::vector<pid_t>& leaders) {
  std::vector<ListeningSocket> sockets;
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    const auto text = fs::read_all(table, table_bytes_max);
    if (!text) continue;
    for (ListeningSocket& socket : listening_sockets(*text, port)) {
      sockets.push_back(std::move(socket));
    }
  }
  if (sockets.empty()) return std::nullopt;
  const std::map<pid_t, Kin> all = all_processes();
  for (const auto& [pid, kin] : all) {
    if (!is_of(pid, all, leaders)) continue;
    std::string address = held_by(pid, sockets);
    if (!address.empty()) return address;
  }
  return std::nullopt;
}

}  // namespace holdfast::agent::node
