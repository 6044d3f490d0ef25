#include "agent/edge/admin/endpoints.h"

#include "platform/fs/ownership.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

// Two lines: the proxy's address, the admin listener's.
constexpr const char* file_name = "endpoints";
constexpr std::size_t size_limit = 4096;

}  // namespace

Status write_endpoints(const std::filesystem::path& data_dir, const EdgeAddresses& endpoints) {
  return fs::atomic_write(data_dir / file_name,
                          endpoints.proxy.text() + "\n" + endpoints.admin.text() + "\n");
}

Result<EdgeAddresses> read_endpoints(const std::filesystem::path& data_dir) {
  TRY(const std::string text, fs::read_own(data_dir / file_name, size_limit));
  const auto lines = split(text, '\n');
  if (lines.size() < 2) return fail(Errc::invalid, (data_dir / file_name).string());
  TRY(net::HostPort proxy, net::HostPort::parse(lines[0]));
  TRY(net::HostPort admin, net::HostPort::parse(lines[1]));
  return EdgeAddresses{std::move(proxy), std::move(admin)};
}

}  // namespace holdfast::agent
