#include "agent/lab/apiserver/tls_dir.h"

#include "platform/fs/ownership.h"
#include "platform/log.h"
#include "platform/tls/signer.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::size_t file_bytes_max = 1UL << 20;
constexpr Duration lifetime = std::chrono::hours(24 * 3650);

Result<std::optional<std::string>> read_if_there(const fs::Path& file) {
  auto read = fs::read_all(file, file_bytes_max);
  if (read) return std::optional(*std::move(read));
  if (read.error().code == Errc::not_found) return std::nullopt;
  return fail(read.error());
}

std::vector<std::string> names_for(const std::string& host) {
  std::vector<std::string> names{"DNS:localhost", "IP:127.0.0.1", "IP:::1"};
  const bool elsewhere = host != "127.0.0.1" && host != "::1" && host != "0.0.0.0" && host != "::";
  if (elsewhere) names.push_back("IP:" + host);
  return names;
}

Status fill(const fs::Path& dir, const std::string& host, WallTime now) {
  const WallTime begins = now - std::chrono::hours(1);
  const tls::Identity authority =
      tls::Signer::make_authority("holdfast-lab", begins, now + lifetime);
  TRY(const tls::Signer signer, tls::Signer::make(authority));
  const std::string key = tls::make_key_pem();
  const tls::Names names{.common_name = "holdfast-lab apiserver", .alternatives = names_for(host)};
  TRY(const std::string request, tls::make_request_pem(key, names));
  TRY(const std::string certificate,
      signer.sign(request,
                  {.not_before = begins, .not_after = now + lifetime, .for_server = true}));
  const std::pair<const char*, const std::string*> files[] = {
      {"ca.key", &authority.key_pem},
      {"ca.crt", &authority.certificate_pem},
      {"server.key", &key},
      {"server.crt", &certificate}};
  for (const auto& [name, content] : files) {
    if (auto written = fs::atomic_write(dir / name, *content); !written) return written;
  }
  log_info("certificates made", {{"dir", dir.string()}});
  return {};
}

}  // namespace

Result<TlsDir> open_tls_dir(const std::string& dir, const std::string& host, WallTime now) {
  const fs::Path path(dir);
  if (auto there = fs::ensure_own_dir(path); !there) return fail("--tls-dir", there.error());
  TRY(const std::vector<std::string> files, fs::list_dir(path));
  if (files.empty()) {
    if (auto filled = fill(path, host, now); !filled) return fail("--tls-dir", filled.error());
  }
  tls::ServerSettings settings;
  settings.protocols = {"h2", "http/1.1"};
  TRY(settings.identity.certificate_pem, fs::read_all(path / "server.crt", file_bytes_max));
  TRY(fs::ForeignSecret key, fs::read_foreign_secret(path / "server.key", file_bytes_max));
  if (!key.warning.empty()) log_warn("unsafe --tls-dir", {{"problem", key.warning}});
  settings.identity.key_pem = std::move(key.bytes);
  TRY(const auto authority, read_if_there(path / "ca.crt"));
  TRY(const auto authority_key, read_if_there(path / "ca.key"));
  settings.client_ca_pem = authority.value_or("");
  TlsDir opened;
  opened.ca_pem = authority.value_or(settings.identity.certificate_pem);
  settings.protocols = {"h2", "http/1.1"};
  TRY(opened.context, tls::Context::for_server(settings));
  if (authority && authority_key) opened.authority = tls::Identity{*authority, *authority_key};
  return opened;
}

}  // namespace holdfast::agent::lab
