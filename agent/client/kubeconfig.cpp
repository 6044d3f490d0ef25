#include "agent/client/kubeconfig.h"

#include <yaml-cpp/yaml.h>

#include <filesystem>

#include "platform/fs/ownership.h"
#include "platform/log.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t file_limit = 1 << 20;

// A kubeconfig while it is read. The file's path is kept for messages and relative names.
class Reader {
 public:
  // `exposed` is a sentence on who besides the owner may read the file; "" if nobody may.
  Reader(std::filesystem::path file, const YAML::Node& root, std::string exposed)
      : file_(std::move(file)), root_(root), exposed_(std::move(exposed)) {}

  Result<ClusterAccess> read(std::string context_name) const {
    if (context_name.empty()) context_name = text(root_["current-context"]);
    TRY(const YAML::Node context, entry("contexts", "context", context_name));
    TRY(const YAML::Node cluster, entry("clusters", "cluster", text(context["cluster"])));
    ClusterAccess access;
    access.namespace_name = text(context["namespace"]);
    if (auto done = read_cluster(cluster, access); !done) return fail(done.error());
    if (text(context["user"]).empty()) return access;
    TRY(const YAML::Node user, entry("users", "user", text(context["user"])));
    if (auto done = read_user(user, access); !done) return fail(done.error());
    return access;
  }

 private:
  static std::string text(const YAML::Node& node) {
    return node && node.IsScalar() ? node.Scalar() : std::string();
  }

  [[nodiscard]] tl::unexpected<Error> wrong(const std::string& what) const {
    return fail(Errc::invalid, file_.string() + ": " + what);
  }

  // The map `inner` of the item called `name` in the list `outer`.
  Result<YAML::Node> entry(const char* outer, const char* inner, const std::string& name) const {
    for (const YAML::Node& item : root_[outer]) {
      if (item.IsMap() && text(item["name"]) == name && item[inner]) {
        return item[inner];
      }
    }
    return wrong("no \"" + name + "\" in " + outer);
  }

  // The content of NAME-data (base64) or of the file NAME; "" if neither is set.
  Result<std::string> bytes_of(const YAML::Node& map, const std::string& name) const {
    const std::string inlined = text(map[name + "-data"]);
    if (!inlined.empty()) {
      auto decoded = base64_decode(trim(inlined));
      if (!decoded) return wrong(name + "-data: " + decoded.error().what);
      return *decoded;
    }
    const std::string named = text(map[name]);
    if (named.empty()) return std::string();
    auto read = fs::read_all(file_.parent_path() / named, file_limit);
    if (!read) return fail(file_.string() + ": " + name, read.error());
    return *read;
  }

  // Checks a file that the kubeconfig names and that holds a secret. A missing file is accepted: it
  // may be written later.
  Status check_secret_file(const std::string& named, ClusterAccess& access) const {
    if (named.empty()) return {};
    auto secret = fs::read_foreign_secret(file_.parent_path() / named, file_limit);
    if (!secret && secret.error().code == Errc::not_found) return {};
    if (!secret) return fail(file_.string(), secret.error());
    if (!secret->warning.empty()) access.exposed_files.push_back(std::move(secret->warning));
    return {};
  }

  Status read_cluster(const YAML::Node& cluster, ClusterAccess& access) const {
    if (auto done = read_server(text(cluster["server"]), access); !done) return done;
    access.tls_settings.insecure = text(cluster["insecure-skip-tls-verify"]) == "true";
    access.tls_settings.server_name = text(cluster["tls-server-name"]);
    TRY(access.tls_settings.ca_pem, bytes_of(cluster, "certificate-authority"));
    return {};
  }

  Status read_server(std::string_view url, ClusterAccess& access) const {
    auto read = parse_server_url(url);
    if (!read) return wrong(read.error().what);
    access.tls = read->tls;
    access.server = std::move(read->server.at);
    access.path_prefix = std::move(read->server.path_prefix);
    return {};
  }

  Status read_user(const YAML::Node& user, ClusterAccess& access) const {
    for (const char* refused : {"exec", "auth-provider", "username", "password", "as"}) {
      if (user[refused]) return wrong(std::string("user: ") + refused + " is not supported");
    }
    access.token = text(user["token"]);
    const std::string token_file = text(user["tokenFile"]);
    if (!token_file.empty()) access.token_file = (file_.parent_path() / token_file).string();
    if (auto safe = check_secret_file(token_file, access); !safe) return safe;
    const bool key_inside = !text(user["client-key-data"]).empty();
    if (!key_inside) {
      if (auto safe = check_secret_file(text(user["client-key"]), access); !safe) return safe;
    }
    const bool secret_inside = key_inside || !access.token.empty();
    if (secret_inside && !exposed_.empty()) access.exposed_files.push_back(exposed_);
    TRY(access.tls_settings.identity.certificate_pem, bytes_of(user, "client-certificate"));
    TRY(access.tls_settings.identity.key_pem, bytes_of(user, "client-key"));
    const bool has_certificate = !access.tls_settings.identity.certificate_pem.empty();
    if (has_certificate != !access.tls_settings.identity.key_pem.empty()) {
      return wrong("user: client-certificate and client-key go together");
    }
    return {};
  }

  std::filesystem::path file_;
  YAML::Node root_;
  std::string exposed_;
};

}  // namespace

Result<ServerUrl> parse_server_url(std::string_view url) {
  const std::string whole(url);
  ServerUrl read{.tls = url.starts_with("https://"), .server = {}};
  if (!read.tls && !url.starts_with("http://")) {
    return fail(Errc::invalid, "server \"" + whole + "\" is neither http:// nor https://");
  }
  url.remove_prefix(read.tls ? 8 : 7);
  const std::size_t slash = url.find('/');
  std::string authority(url.substr(0, slash));
  std::string& prefix = read.server.path_prefix;
  if (slash != std::string_view::npos) prefix = url.substr(slash);
  while (prefix.ends_with('/')) prefix.pop_back();
  const bool has_port = authority.rfind(':') != std::string::npos && !authority.ends_with(']');
  if (!has_port) authority += read.tls ? ":443" : ":80";
  auto at = net::HostPort::parse(authority);
  if (!at) return fail(Errc::invalid, "server \"" + whole + "\": " + at.error().what);
  read.server.at = *std::move(at);
  return read;
}

std::vector<ServerAddress> ClusterAccess::servers() const {
  std::vector<ServerAddress> all{{server, path_prefix}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

Result<std::vector<http::Endpoint>> ClusterAccess::endpoints() const {
  std::shared_ptr<const tls::Context> context;
  if (tls) {
    TRY(context, tls::Context::for_client(tls_settings));
  }
  std::vector<http::Endpoint> made;
  for (ServerAddress& each : servers()) made.push_back({std::move(each.at), context});
  return made;
}

Result<ClusterAccess> read_kubeconfig(const std::string& file, std::string_view context) {
  TRY(const fs::ForeignSecret content, fs::read_foreign_secret(file, file_limit));
  try {
    const YAML::Node root = YAML::Load(content.bytes);
    if (!root.IsMap()) return fail(Errc::invalid, file + ": not a kubeconfig");
    return Reader(file, root, content.warning).read(std::string(context));
  } catch (const YAML::Exception& error) {
    return fail(Errc::invalid, file + ":" + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
}

std::vector<std::string> warnings_about(const ClusterAccess& access) {
  std::vector<std::string> warnings = access.exposed_files;
  const bool has_token = !access.token.empty() || !access.token_file.empty();
  for (const ServerAddress& server : access.servers()) {
    const std::string name = server.at.text();
    if (access.tls && access.tls_settings.insecure) {
      warnings.push_back("the certificate of the API server " + name +
                         " is not verified (insecure-skip-tls-verify): whoever is on the network "
                         "path can read the credentials and change every answer");
    }
    if (!access.tls && has_token) {
      warnings.push_back("the token is sent unencrypted to http://" + name +
                         ": whoever is on the network path can use it");
    }
  }
  return warnings;
}

void log_warnings_about(const ClusterAccess& access) {
  for (const std::string& warning : warnings_about(access)) {
    log_warn("unsafe access to the cluster", {{"problem", warning}});
  }
}

Result<ClusterAccess> in_cluster_access(const proc::Environment& environment,
                                        const std::string& folder) {
  const auto host = environment("KUBERNETES_SERVICE_HOST");
  const auto port = environment("KUBERNETES_SERVICE_PORT");
  if (!host || !port || host->empty() || port->empty()) {
    return fail(Errc::not_found, "no kubeconfig is given, and this process does not run in a pod");
  }
  const bool is_v6 = host->find(':') != std::string::npos;
  ClusterAccess access;
  access.tls = true;
  TRY(access.server, net::HostPort::parse((is_v6 ? "[" + *host + "]" : *host) + ":" + *port));
  TRY(access.tls_settings.ca_pem, fs::read_all(folder + "/ca.crt", file_limit));
  access.token_file = folder + "/token";
  TRY(access.token, fs::read_all(access.token_file, file_limit));
  access.token = trim(access.token);
  return access;
}

}  // namespace holdfast::agent
