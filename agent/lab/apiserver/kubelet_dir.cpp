#include "agent/lab/apiserver/kubelet_dir.h"

#include "platform/fs/ownership.h"
#include "platform/log.h"
#include "platform/tls/signer.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::size_t kubelet_pem_bytes_max = 1UL << 20;
constexpr Duration kubelet_lifetime = std::chrono::hours(24 * 3650);
constexpr const char* client_name = "kube-apiserver-kubelet-client";

Status fill_kubelet_dir(const fs::Path& dir, WallTime now) {
  const WallTime begins = now - std::chrono::hours(1);
  const tls::Identity authority =
      tls::Signer::make_authority("holdfast-lab kubelet clients", begins, now + kubelet_lifetime);
  TRY(const tls::Signer signer, tls::Signer::make(authority));
  const std::string key = tls::make_key_pem();
  TRY(const std::string request, tls::make_request_pem(key, {.common_name = client_name}));
  TRY(const std::string certificate,
      signer.sign(request,
                  {.not_before = begins, .not_after = now + kubelet_lifetime, .for_client = true}));
  // The authority comes last: whoever waits for it finds all files.
  const std::pair<const char*, const std::string*> files[] = {
      {kubelet_client_key, &key},
      {kubelet_client_certificate, &certificate},
      {kubelet_ca_file, &authority.certificate_pem}};
  for (const auto& [name, content] : files) {
    if (auto written = fs::atomic_write(dir / name, *content); !written) return written;
  }
  return {};
}

}  // namespace

Result<tls::Identity> open_kubelet_dir(const fs::Path& dir, WallTime now) {
  if (auto made = fs::ensure_own_dir(dir); !made) return fail(made.error());
  std::error_code ec;
  if (!std::filesystem::exists(dir / kubelet_ca_file, ec)) {
    if (auto filled = fill_kubelet_dir(dir, now); !filled) return fail(filled.error());
  }
  tls::Identity identity;
  TRY(identity.certificate_pem,
      fs::read_all(dir / kubelet_client_certificate, kubelet_pem_bytes_max));
  TRY(fs::ForeignSecret key,
      fs::read_foreign_secret(dir / kubelet_client_key, kubelet_pem_bytes_max));
  if (!key.warning.empty()) log_warn("unsafe kubelet client key", {{"problem", key.warning}});
  identity.key_pem = std::move(key.bytes);
  if (auto pair = tls::check_pair(identity); !pair) return fail(dir.string(), pair.error());
  return identity;
}

}  // namespace holdfast::agent::lab
