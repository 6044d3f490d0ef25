#include "agent/lab/rules/descriptions.h"

#include <map>
#include <string>

#include "embedded/descriptions.h"
#include "platform/check.h"
#include "platform/text.h"
#include "sync/model/documentation.h"

namespace holdfast::agent::lab {
namespace {

using Descriptions = std::map<std::string_view, std::string_view>;

Descriptions read_descriptions() {
  Descriptions found;
  for (const std::string_view line : split(embedded::descriptions_txt, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(": ");
    CHECK(colon != std::string_view::npos);
    CHECK(found.emplace(line.substr(0, colon), line.substr(colon + 2)).second);
  }
  return found;
}

std::string_view find_in(const Descriptions& all, const std::string& subject) {
  const auto found = all.find(subject);
  return found == all.end() ? std::string_view() : found->second;
}

}  // namespace

std::string_view find_description(std::string_view type, std::string_view field) {
  static const Descriptions descriptions = read_descriptions();
  std::string subject(type);
  if (!field.empty()) subject.append(".").append(field);
  if (const std::string_view own = find_in(descriptions, subject); !own.empty()) return own;
  if (const std::string_view text = sync::find_doc(type, field); !text.empty()) return text;
  return field.empty() ? std::string_view() : find_in(descriptions, "*." + std::string(field));
}

}  // namespace holdfast::agent::lab
