#include "platform/net/tcp_table.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "platform/fs/file.h"
#include "platform/text.h"

namespace holdfast::net {
namespace {

using boost::asio::ip::tcp;
namespace ip = boost::asio::ip;

constexpr std::size_t table_bytes_max = 16UL * 1024 * 1024;  // 100,000 connections
constexpr std::size_t state_column = 3;
constexpr std::size_t uid_column = 7;
constexpr std::size_t inode_column = 9;

// A socket's end as the kernel prints it: the address as 32-bit words in the machine's byte order,
// then the port: "0100007F:2815".
template <std::size_t size>
std::string printed(const std::array<unsigned char, size>& address, std::uint16_t port) {
  std::string text;
  std::array<char, 16> piece{};
  for (std::size_t at = 0; at < size; at += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, address.data() + at, sizeof word);
    (void)std::snprintf(piece.data(), piece.size(), "%08X", word);
    text += piece.data();
  }
  (void)std::snprintf(piece.data(), piece.size(), ":%04X", static_cast<unsigned>(port));
  return text += piece.data();
}

struct Column {
  std::string v4;  // empty for an IPv6 address
  std::string v6;
};

// An IPv6 socket's table has IPv4 addresses in mapped form, also for a listener on "::".
Column column_of(const tcp::endpoint& end) {
  ip::address address = end.address();
  const bool is_mapped = address.is_v6() && address.to_v6().is_v4_mapped();
  if (is_mapped) address = ip::make_address_v4(ip::v4_mapped, address.to_v6());
  if (address.is_v6()) return {{}, printed(address.to_v6().to_bytes(), end.port())};
  const ip::address_v6 mapped = ip::make_address_v6(ip::v4_mapped, address.to_v4());
  return {printed(address.to_v4().to_bytes(), end.port()), printed(mapped.to_bytes(), end.port())};
}

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) columns.push_back(word);
  }
  return columns;
}

std::optional<SocketOwner> owner_of_line(const std::vector<std::string_view>& columns) {
  std::uint8_t state = 0;
  const std::string_view text = columns[state_column];
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), state, 16);
  const bool whole = ec == std::errc() && end == text.data() + text.size();
  const auto uid = parse_int<std::uint32_t>(columns[uid_column]);
  const auto inode = parse_int<std::uint64_t>(columns[inode_column]);
  if (!whole || !has_live_owner(state) || !uid || !inode || *inode == 0) return std::nullopt;
  return SocketOwner{.uid = *uid, .inode = *inode};
}

// The owner from the first line that has both ends in adjacent columns and proves an owner.
std::optional<SocketOwner> owner_of_ends(std::string_view table, const std::string& from,
                                         const std::string& to) {
  if (from.empty() || to.empty()) return std::nullopt;
  const std::string ends = " " + from + " " + to + " ";
  for (std::size_t at = table.find(ends); at != table.npos; at = table.find(ends, at + 1)) {
    const std::size_t begin = table.rfind('\n', at) + 1;  // 0 in the first line
    const auto columns = columns_of(table.substr(begin, table.find('\n', at) - begin));
    if (columns.size() <= inode_column || columns[1] != from || columns[2] != to) continue;
    if (auto owner = owner_of_line(columns)) return owner;
  }
  return std::nullopt;
}

}  // namespace

std::optional<SocketOwner> owner_in_tcp_table(std::string_view table, const Connected& asked) {
  const Column from = column_of(asked.source);
  const Column to = column_of(asked.destination);
  const auto owner = owner_of_ends(table, from.v4, to.v4);
  return owner ? owner : owner_of_ends(table, from.v6, to.v6);
}

std::optional<SocketOwner> owner_in_tcp_tables(const Connected& asked) {
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto table = fs::read_all(file, table_bytes_max);
    if (!table) continue;
    if (const auto owner = owner_in_tcp_table(*table, asked)) return owner;
  }
  return std::nullopt;
}

}  // namespace holdfast::net
