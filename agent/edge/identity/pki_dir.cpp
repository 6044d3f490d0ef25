#include "agent/edge/identity/pki_dir.h"

#include "platform/fs/ownership.h"
#include "platform/text.h"
#include "platform/tls/certificate.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t pki_file_limit = 1 << 20;
constexpr const char* authority_file = "ca.crt";
constexpr const char* cluster_file = "node.kubeconfig";

using ReadFile = Result<std::string> (*)(const fs::Path& file, std::size_t limit);

// Reads the file with `by`: fs::read_secret for keys, fs::read_own for the rest.
Result<std::optional<std::string>> read_if_there(const fs::Path& file, ReadFile by) {
  auto read = by(file, pki_file_limit);
  if (read) return std::optional(*std::move(read));
  if (read.error().code == Errc::not_found) return std::nullopt;
  return fail(read.error());
}

// A double-quoted YAML scalar. The texts need no escapes.
std::string quoted(const std::string& text) { return "\"" + text + "\""; }

}  // namespace

Result<PkiDir> PkiDir::open(const fs::Path& data_dir) {
  PkiDir made(data_dir / "pki");
  if (auto there = fs::ensure_own_dir(made.dir_); !there) return fail("--data-dir", there.error());
  return made;
}

fs::Path PkiDir::file_of(sync::identity::CertificateUse use) const {
  return dir_ / (std::string(to_string(use)) + "-current.pem");
}

Result<std::optional<tls::Identity>> PkiDir::load(sync::identity::CertificateUse use) const {
  TRY(std::optional<std::string> text, read_if_there(file_of(use), fs::read_secret));
  if (!text) return std::nullopt;
  // OpenSSL finds the certificate and the key in the same text.
  tls::Identity identity{.certificate_pem = *text, .key_pem = *text};
  if (auto pair = tls::check_pair(identity); !pair) {
    return fail(Errc::corrupt, file_of(use).string() + ": " + pair.error().what);
  }
  return identity;
}

Status PkiDir::store(sync::identity::CertificateUse use, const tls::Identity& identity) const {
  const bool together = identity.certificate_pem == identity.key_pem;
  const std::string text =
      together ? identity.key_pem : identity.certificate_pem + identity.key_pem;
  return fs::atomic_write(file_of(use), text);
}

Result<std::optional<std::string>> PkiDir::load_authority() const {
  return read_if_there(dir_ / authority_file, fs::read_own);
}

Status PkiDir::store_authority(std::string_view pem) const {
  return fs::atomic_write(dir_ / authority_file, pem);
}

Result<ClusterAccess> PkiDir::load_cluster() const {
  return read_kubeconfig((dir_ / cluster_file).string());
}

Status PkiDir::store_cluster(const ClusterAccess& access) const {
  const std::string scheme = access.tls ? "https://" : "http://";
  const std::string client = file_of(sync::identity::CertificateUse::client).filename().string();
  std::string text =
      "apiVersion: v1\nkind: Config\ncurrent-context: node\nclusters:\n- name: node\n";
  text += "  cluster:\n    server: " + quoted(scheme + access.server.text() + access.path_prefix);
  const tls::ClientSettings& settings = access.tls_settings;
  if (!settings.ca_pem.empty()) {
    text += "\n    certificate-authority-data: " + base64_encode(settings.ca_pem);
  }
  if (!settings.server_name.empty()) {
    text += "\n    tls-server-name: " + quoted(settings.server_name);
  }
  if (!access.proxy_url.empty()) text += "\n    proxy-url: " + quoted(access.proxy_url);
  if (settings.insecure) text += "\n    insecure-skip-tls-verify: true";
  text += "\nusers:\n- name: node\n  user:\n    client-certificate: " + client;
  text += "\n    client-key: " + client;
  text += "\ncontexts:\n- name: node\n  context:\n    cluster: node\n    user: node\n";
  const auto known = read_if_there(dir_ / cluster_file, fs::read_own);
  if (known && *known && **known == text) return {};
  return fs::atomic_write(dir_ / cluster_file, text);
}

}  // namespace holdfast::agent
