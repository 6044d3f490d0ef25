#include "agent/client/kubeconfig.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>

#include "agent/client/credential_plugin.h"
#include "agent/client/kubeconfig_fields.h"
#include "agent/client/plugin_process.h"
#include "platform/fs/ownership.h"
#include "platform/http/grammar.h"
#include "platform/proxy/url.h"
#include "platform/terminal.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

constexpr std::size_t file_limit = 1 << 20;
constexpr std::size_t unknown_fields_max = 8;

// A kubeconfig while it is read. The file's path is kept for messages and relative names.
class Reader {
 public:
  // `exposed` is a sentence on who besides the owner may read the file; "" if nobody may.
  Reader(std::filesystem::path file, const YAML::Node& root, std::string exposed)
      : file_(std::move(file)), root_(root), exposed_(std::move(exposed)) {}

  Result<ClusterAccess> read(std::string context_name) const {
    ClusterAccess access;
    if (auto good = check_fields("", root_, access); !good) return fail(good.error());
    if (auto good = check_kind(); !good) return fail(good.error());
    if (context_name.empty()) context_name = text(root_["current-context"]);
    TRY(const YAML::Node context, entry("contexts", "context", context_name));
    if (auto good = check_fields("context", context, access); !good) return fail(good.error());
    TRY(const YAML::Node cluster, entry("clusters", "cluster", text(context["cluster"])));
    access.namespace_name = text(context["namespace"]);
    if (auto done = read_cluster(cluster, access); !done) return fail(done.error());
    if (text(context["user"]).empty()) return access;
    TRY(const YAML::Node user, entry("users", "user", text(context["user"])));
    if (auto done = read_user(user, access); !done) return fail(done.error());
    if (auto done = read_exec(user["exec"], cluster, access); !done) return fail(done.error());
    return access;
  }

 private:
  static std::string text(const YAML::Node& node) {
    return node && node.IsScalar() ? node.Scalar() : std::string();
  }

  // Whether nothing is set, as Go's omitempty has it.
  static bool is_empty(const YAML::Node& node) {
    if (!node || node.IsNull()) return true;
    return node.IsScalar() ? node.Scalar().empty() : node.size() == 0;
  }

  // Checks that every member of the map is known and has the right form. Unknown ones are noted.
  Status check_fields(std::string_view section, const YAML::Node& map,
                      ClusterAccess& access) const {
    if (!map.IsMap() && !is_empty(map)) return wrong(std::string(section) + ": not a map");
    for (const auto& member : map) {
      const std::string name = member.first.IsScalar() ? member.first.Scalar() : "";
      const std::string shown = label(section, escape_for_terminal(name.substr(0, 64)));
      const KubeconfigField* field = find_kubeconfig_field(section, name);
      if (field == nullptr && access.unknown_fields.size() < unknown_fields_max) {
        access.unknown_fields.push_back(file_.string() + ": " + shown);
      }
      if (field == nullptr || is_empty(member.second)) continue;
      if (auto good = check_field(*field, shown, member.second); !good) return good;
    }
    return {};
  }

  Status check_field(const KubeconfigField& field, const std::string& shown,
                     const YAML::Node& value) const {
    if (field.use == FieldUse::refused) {
      return wrong(shown + " is not supported: " + std::string(field.why));
    }
    const bool is_scalar = field.use == FieldUse::text || field.use == FieldUse::flag;
    if (is_scalar && !value.IsScalar()) return wrong(shown + " is not a scalar");
    bool ignored = false;
    if (field.use != FieldUse::flag || YAML::convert<bool>::decode(value, ignored)) return {};
    return wrong(shown + " is not a boolean");
  }

  static std::string label(std::string_view section, const std::string& name) {
    return section.empty() ? name : std::string(section) + ": " + name;
  }

  Status check_kind() const {
    const std::string version = text(root_["apiVersion"]);
    const std::string kind = text(root_["kind"]);
    if (!version.empty() && version != "v1") return wrong("apiVersion is not v1");
    if (!kind.empty() && kind != "Config") return wrong("kind is not Config");
    return {};
  }

  static bool flag(const YAML::Node& node) {
    bool set = false;
    return node && node.IsScalar() && YAML::convert<bool>::decode(node, set) && set;
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
    if (auto good = check_fields("cluster", cluster, access); !good) return good;
    if (auto done = read_server(text(cluster["server"]), access); !done) return done;
    access.tls_settings.insecure = flag(cluster["insecure-skip-tls-verify"]);
    access.disable_compression = flag(cluster["disable-compression"]);
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
    if (auto good = check_fields("user", user, access); !good) return good;
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

  // After everything else, because the plug-in may be told about the cluster.
  Status read_exec(const YAML::Node& exec, const YAML::Node& cluster, ClusterAccess& access) const {
    if (!exec || exec.IsNull()) return {};
    if (auto good = check_fields("exec", exec, access); !good) return good;
    const bool others = !access.token.empty() || !access.token_file.empty() ||
                        !access.tls_settings.identity.certificate_pem.empty();
    if (others) return wrong("user: exec excludes tokens and client certificates");
    ExecConfig made;
    made.api_version = text(exec["apiVersion"]);
    made.command = text(exec["command"]);
    made.install_hint = text(exec["installHint"]);
    if (!is_exec_version(made.api_version)) {
      return wrong("exec: apiVersion is neither client.authentication.k8s.io/v1 nor /v1beta1");
    }
    if (made.command.empty()) return wrong("exec: command is empty");
    const bool is_path = made.command.find('/') != std::string::npos;
    if (is_path) made.command = (file_.parent_path() / made.command).string();
    if (auto good = check_interactive(text(exec["interactiveMode"]), made.api_version); !good) {
      return good;
    }
    if (auto read = read_arguments(exec, made, access); !read) return read;
    TRY(made.info, info_of(exec, cluster, made.api_version, access));
    access.plugin = std::make_shared<CredentialPlugin>(std::move(made), run_plugin);
    return {};
  }

  Status check_interactive(const std::string& mode, const std::string& version) const {
    if (mode == "Never" || mode == "IfAvailable") return {};
    if (mode == "Always") return wrong("exec: interactiveMode is Always, but there is no terminal");
    if (mode.empty() && version.ends_with("/v1beta1")) return {};
    return wrong("exec: interactiveMode is neither Never nor IfAvailable");
  }

  Status read_arguments(const YAML::Node& exec, ExecConfig& made, ClusterAccess& access) const {
    for (const YAML::Node& each : exec["args"]) {
      if (!each.IsScalar()) return wrong("exec: an argument is not a string");
      made.args.push_back(each.Scalar());
    }
    for (const YAML::Node& each : exec["env"]) {
      if (auto good = check_fields("env", each, access); !good) return good;
      const std::string name = text(each["name"]);
      const bool good = !name.empty() && name.find('=') == std::string::npos;
      if (!good) return wrong("exec: the name of a variable is empty or contains \"=\"");
      made.env.push_back(name + "=" + text(each["value"]));
    }
    const auto has_nul = [](const std::string& each) { return each.find('\0') != each.npos; };
    const bool bad = has_nul(made.command) ||
                     std::any_of(made.args.begin(), made.args.end(), has_nul) ||
                     std::any_of(made.env.begin(), made.env.end(), has_nul);
    return bad ? wrong("exec: NUL in the command, an argument or a variable") : Status();
  }

  Result<std::string> info_of(const YAML::Node& exec, const YAML::Node& cluster,
                              const std::string& version, const ClusterAccess& access) const {
    if (!flag(exec["provideClusterInfo"])) return exec_info(version, nullptr);
    for (const YAML::Node& each : cluster["extensions"]) {
      if (!each.IsMap() || text(each["name"]) != "client.authentication.k8s.io/exec") continue;
      return wrong("cluster: the extension client.authentication.k8s.io/exec is not supported");
    }
    const ExecCluster about{.server = text(cluster["server"]),
                            .tls_server_name = access.tls_settings.server_name,
                            .insecure = access.tls_settings.insecure,
                            .ca_pem = access.tls_settings.ca_pem,
                            .proxy_url = access.proxy_url,
                            .disable_compression = access.disable_compression};
    return exec_info(version, &about);
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
