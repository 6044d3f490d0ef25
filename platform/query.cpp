#include "platform/query.h"

#include <algorithm>

#include "platform/text.h"

namespace holdfast {

Result<Query> Query::parse(std::string_view raw) {
  Query query;
  if (raw.empty()) return query;
  for (const std::string_view part : split(raw, '&')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    TRY(std::string name, percent_decode(part.substr(0, equals), true));
    std::string value;
    if (equals != std::string_view::npos) {
      TRY(value, percent_decode(part.substr(equals + 1), true));
    }
    query.pairs_.emplace_back(std::move(name), std::move(value));
  }
  return query;
}

std::string_view Query::get(std::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return value;
  }
  return {};
}

bool Query::has(std::string_view name) const {
  return std::any_of(pairs_.begin(), pairs_.end(),
                     [name](const auto& pair) { return pair.first == name; });
}

bool Query::flag(std::string_view name) const {
  const std::string_view value = get(name);
  return has(name) && value != "0" && !equals_ignoring_case(value, "false");
}

void Query::set(std::string_view name, std::string value) {
  remove(name);
  pairs_.emplace_back(std::string(name), std::move(value));
}

void Query::remove(std::string_view name) {
  std::erase_if(pairs_, [name](const auto& pair) { return pair.first == name; });
}

std::string Query::encode() const {
  std::string text;
  for (const auto& [name, value] : pairs_) {
    if (!text.empty()) text += '&';
    text += percent_encode(name) + "=" + percent_encode(value);
  }
  return text;
}

}  // namespace holdfast
