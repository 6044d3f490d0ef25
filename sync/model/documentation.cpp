#include "sync/model/documentation.h"

#include <map>
#include <string>

#include "platform/text.h"
#include "sync/model/docs.h"

namespace holdfast::sync::inline model {
namespace {

using Docs = std::map<std::string_view, std::string_view>;

// Reads lines of the form "Type text" and "Type.field text".
Docs read_docs() {
  Docs docs;
  for (const std::string_view line : split(generated::docs, '\n')) {
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos)
      docs.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return docs;
}

}  // namespace

std::string_view find_doc(std::string_view type, std::string_view field) {
  static const Docs docs = read_docs();
  std::string subject(type);
  if (!field.empty()) subject.append(".").append(field);
  const auto found = docs.find(subject);
  return found == docs.end() ? std::string_view() : found->second;
}

}  // namespace holdfast::sync::inline model
