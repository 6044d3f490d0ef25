#include "agent/edge/local_scope.h"

#include "platform/text.h"

namespace holdfast::agent {

std::string_view LocalScope::object_name() const {
  constexpr std::string_view by_name = "metadata.name=";
  const std::string_view fields = key_.field_selector;
  const bool one = key_.label_selector.empty() && fields.starts_with(by_name) &&
                   fields.find(',') == std::string_view::npos;
  return one ? fields.substr(by_name.size()) : "";
}

std::string LocalScope::path() const {
  // The key's words are as the caller's path had them, decoded.
  std::string path = key_.group.empty() ? "/api/" : "/apis/" + percent_encode(key_.group) + "/";
  path += percent_encode(key_.version);
  if (!key_.namespace_name.empty()) path += "/namespaces/" + percent_encode(key_.namespace_name);
  return path + "/" + percent_encode(key_.resource);
}

}  // namespace holdfast::agent
