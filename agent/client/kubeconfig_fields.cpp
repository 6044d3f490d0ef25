#include "agent/client/kubeconfig_fields.h"

#include <algorithm>

namespace holdfast::agent {
namespace {

constexpr std::string_view no_passwords = "API servers accept no passwords since Kubernetes 1.19";
constexpr std::string_view no_others = "the program acts only as itself";

constexpr KubeconfigField fields[] = {
    {"", "apiVersion", FieldUse::text},
    {"", "kind", FieldUse::text},
    {"", "clusters", FieldUse::nested},
    {"", "contexts", FieldUse::nested},
    {"", "users", FieldUse::nested},
    {"", "current-context", FieldUse::text},
    {"", "preferences", FieldUse::meaningless},
    {"", "extensions", FieldUse::meaningless},
    {"cluster", "server", FieldUse::text},
    {"cluster", "tls-server-name", FieldUse::text},
    {"cluster", "insecure-skip-tls-verify", FieldUse::flag},
    {"cluster", "certificate-authority", FieldUse::text},
    {"cluster", "certificate-authority-data", FieldUse::text},
    {"cluster", "proxy-url", FieldUse::text},
    {"cluster", "disable-compression", FieldUse::flag},
    {"cluster", "extensions", FieldUse::meaningless},
    {"context", "cluster", FieldUse::text},
    {"context", "user", FieldUse::text},
    {"context", "namespace", FieldUse::text},
    {"context", "extensions", FieldUse::meaningless},
    {"user", "client-certificate", FieldUse::text},
    {"user", "client-certificate-data", FieldUse::text},
    {"user", "client-key", FieldUse::text},
    {"user", "client-key-data", FieldUse::text},
    {"user", "token", FieldUse::text},
    {"user", "tokenFile", FieldUse::text},
    {"user", "as", FieldUse::refused, no_others},
    {"user", "as-uid", FieldUse::refused, no_others},
    {"user", "as-groups", FieldUse::refused, no_others},
    {"user", "as-user-extra", FieldUse::refused, no_others},
    {"user", "username", FieldUse::refused, no_passwords},
    {"user", "password", FieldUse::refused, no_passwords},
    {"user", "auth-provider", FieldUse::refused,
     "use exec instead; Kubernetes 1.26 removed the providers of the clouds"},
    {"user", "exec", FieldUse::nested},
    {"user", "extensions", FieldUse::meaningless},
    {"exec", "apiVersion", FieldUse::text},
    {"exec", "command", FieldUse::text},
    {"exec", "args", FieldUse::nested},
    {"exec", "env", FieldUse::nested},
    {"exec", "installHint", FieldUse::text},
    {"exec", "provideClusterInfo", FieldUse::flag},
    {"exec", "interactiveMode", FieldUse::text},
    {"env", "name", FieldUse::text},
    {"env", "value", FieldUse::text},
};

}  // namespace

std::span<const KubeconfigField> kubeconfig_fields() { return fields; }

const KubeconfigField* find_kubeconfig_field(std::string_view section, std::string_view name) {
  const auto* found = std::find_if(std::begin(fields), std::end(fields),
                                   [section, name](const KubeconfigField& each) {
                                     return each.section == section && each.name == name;
                                   });
  return found == std::end(fields) ? nullptr : found;
}

}  // namespace holdfast::agent
