#include "agent/lab/apiserver/serve_kubeconfig.h"

#include <sys/stat.h>

#include <algorithm>

#include "agent/lab/rules/identity.h"
#include "platform/fs/errno.h"
#include "platform/fs/ownership.h"
#include "platform/text.h"
#include "platform/tls/signer.h"

namespace holdfast::agent::lab {
namespace {

constexpr const char* administrators = "system:masters";
constexpr Duration certificate_lifetime = std::chrono::hours(24 * 365);

// The address by which this machine reaches the listener.
net::HostPort reachable(net::HostPort listener) {
  if (listener.host == "0.0.0.0") listener.host = "127.0.0.1";
  if (listener.host == "::") listener.host = "::1";
  return listener;
}

Result<std::string> administrator_token(const std::string& csv) {
  TRY(const TokenTable tokens, TokenTable::parse(csv));
  for (const auto& [token, identity] : tokens.all()) {
    if (identity.in_group(administrators)) return token;
  }
  return std::string();
}

Result<tls::Identity> administrator_certificate(const tls::Identity& authority, WallTime now) {
  TRY(const tls::Signer signer, tls::Signer::make(authority));
  tls::Identity made{.certificate_pem = {}, .key_pem = tls::make_key_pem()};
  const tls::Names names{.common_name = "holdfast-lab-admin", .organizations = {administrators}};
  TRY(const std::string request, tls::make_request_pem(made.key_pem, names));
  TRY(made.certificate_pem, signer.sign(request, {.not_before = now - std::chrono::hours(1),
                                                  .not_after = now + certificate_lifetime,
                                                  .for_client = true}));
  return made;
}

// A line of the user entry, as YAML; "" if there are no credentials.
Result<std::string> credentials(const KubeconfigAccess& access, WallTime now) {
  TRY(const std::string token, administrator_token(access.tokens));
  // Single quotes are doubled in YAML; a token has no line end.
  if (!token.empty()) {
    std::string quoted;
    for (const char c : token) quoted += c == '\'' ? "''" : std::string(1, c);
    return "    token: '" + quoted + "'\n";
  }
  if (access.authority && !access.ca_pem.empty()) {
    TRY(const tls::Identity admin, administrator_certificate(*access.authority, now));
    return "    client-certificate-data: " + base64_encode(admin.certificate_pem) +
           "\n    client-key-data: " + base64_encode(admin.key_pem) + "\n";
  }
  if (access.tokens.empty()) return std::string();
  return fail(Errc::invalid, "--token-file has no token of the group system:masters");
}

// The folder of `file` without symbolic links, which nobody else may replace.
Result<fs::Path> safe_folder(const fs::Path& file) {
  std::error_code ec;
  const fs::Path folder =
      std::filesystem::canonical(file.has_parent_path() ? file.parent_path() : fs::Path("."), ec);
  if (ec) return fail(errc_of(ec.value()), ec.message());
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0) return fail_errno(folder.string());
  const bool sticky = found.st_uid == 0 && (found.st_mode & S_ISVTX) != 0;
  const Status checked = fs::check_own_dir(sticky ? folder.parent_path() : folder);
  if (!checked) return fail(checked.error());
  return folder;
}

}  // namespace

Result<std::string> kubeconfig_text(const KubeconfigAccess& access, WallTime now) {
  TRY(const std::string user, credentials(access, now));
  const bool tls = !access.ca_pem.empty();
  std::string cluster =
      std::string(tls ? "https://" : "http://") + reachable(access.listener).text() + "\n";
  if (tls) cluster += "    certificate-authority-data: " + base64_encode(access.ca_pem) + "\n";
  return "apiVersion: v1\nkind: Config\ncurrent-context: holdfast-lab\n"
         "clusters:\n- name: holdfast-lab\n  cluster:\n    server: " +
         cluster +
         "contexts:\n- name: holdfast-lab\n  context:\n    cluster: holdfast-lab\n"
         "    user: holdfast-lab\n"
         "users:\n- name: holdfast-lab\n  user:" +
         (user.empty() ? " {}\n" : "\n" + user);
}

Status write_kubeconfig(const std::string& file, const KubeconfigAccess& access, WallTime now) {
  const std::string doing = "--write-kubeconfig " + file;
  const fs::Path path(file);
  if (!path.has_filename()) return fail(Errc::invalid, doing + ": not the name of a file");
  const auto text = kubeconfig_text(access, now);
  if (!text) return fail(doing, text.error());
  const auto folder = safe_folder(path);
  if (!folder) return fail(doing, folder.error());
  if (auto written = fs::atomic_write(*folder / path.filename(), *text); !written) {
    return fail(doing, written.error());
  }
  return {};
}

}  // namespace holdfast::agent::lab
