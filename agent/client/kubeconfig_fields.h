// Every field of a kubeconfig (version v1), and what becomes of it: it is honoured, it makes the
// kubeconfig invalid, or it means nothing to a program that is not kubectl.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::agent {

enum class FieldUse : std::uint8_t {
  text,         // honoured; a scalar
  flag,         // honoured; a boolean
  nested,       // honoured; a list or a map
  refused,      // an error that names it, unless it is empty
  meaningless,  // ignored
};

struct KubeconfigField {
  std::string_view section;  // "", "cluster", "context", "user", "exec" or "env"
  std::string_view name;
  FieldUse use;
  std::string_view why = {};  // it is refused
};

[[nodiscard]] std::span<const KubeconfigField> kubeconfig_fields();
// Null for a field that Kubernetes does not know either.
[[nodiscard]] const KubeconfigField* find_kubeconfig_field(std::string_view section,
                                                           std::string_view name);

}  // namespace holdfast::agent
