#include "agent/client/kubeconfig.h"

#include <yaml-cpp/yaml.h>

#include <filesystem>

#include "platform/fs/ownership.h"
#include "platform/http/grammar.h"
#include "platform/proxy/url.h"
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
    const std::string& name = access.tls_settings.server_name;
    if (!name.empty() && !http::is_host(name)) return wrong("tls-server-name: not a host name");
    if (auto done = read_proxy(text(cluster["proxy-url"]), access); !done) return done;
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

  Status read_proxy(std::string url, ClusterAccess& access) const {
    if (url.empty()) return {};
    const auto read = proxy::parse_url(url);
    if (!read) return wrong("proxy-url: " + read.error().what);
    if (read->has_credentials && !exposed_.empty()) access.exposed_files.push_back(exposed_);
    access.proxy_url = std::move(url);
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
    const bool reported = !access.exposed_files.empty() && access.exposed_files[0] == exposed_;
    if (secret_inside && !exposed_.empty() && !reported) access.exposed_files.push_back(exposed_);
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

}  // namespace holdfast::agent
