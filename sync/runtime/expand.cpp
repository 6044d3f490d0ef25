#include "sync/runtime/expand.h"

namespace holdfast::sync::runtime {

std::string expand(std::string_view text, const Variables& variables) {
  std::string out;
  while (!text.empty()) {
    const std::size_t dollar = text.find('$');
    out += text.substr(0, dollar);
    if (dollar == text.npos) break;
    text.remove_prefix(dollar + 1);
    if (text.starts_with('$')) {
      out += '$';
      text.remove_prefix(1);
      continue;
    }
    const std::size_t close = text.find(')');
    if (!text.starts_with('(') || close == text.npos) {
      out += '$';
      continue;
    }
    const std::string_view name = text.substr(1, close - 1);
    const auto value = variables(name);
    if (value) {
      out += *value;
    } else {
      out.append("$(").append(name).append(")");
    }
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace holdfast::sync::runtime
