#include "platform/http/message.h"

#include <algorithm>
#include <array>

#include "platform/text.h"

namespace holdfast::http {
namespace {

constexpr std::array<std::pair<Method, std::string_view>, 7> methods{
    {{Method::get, "GET"},
     {Method::head, "HEAD"},
     {Method::put, "PUT"},
     {Method::post, "POST"},
     {Method::patch, "PATCH"},
     {Method::remove, "DELETE"},
     {Method::options, "OPTIONS"}}};

}  // namespace

std::string_view to_string(Method method) {
  for (const auto& [known, text] : methods) {
    if (known == method) return text;
  }
  return "OTHER";
}

Method parse_method(std::string_view text) {
  for (const auto& [method, known] : methods) {
    if (known == text) return method;
  }
  return Method::other;
}

std::string_view Headers::get(std::string_view name) const {
  for (const Header& header : headers_) {
    if (equals_ignoring_case(header.name, name)) return header.value;
  }
  return {};
}

bool Headers::has(std::string_view name) const {
  return std::any_of(headers_.begin(), headers_.end(), [name](const Header& header) {
    return equals_ignoring_case(header.name, name);
  });
}

void Headers::set(std::string_view name, std::string value) {
  remove(name);
  headers_.push_back({std::string(name), std::move(value)});
}

void Headers::remove(std::string_view name) {
  std::erase_if(headers_,
                [name](const Header& header) { return equals_ignoring_case(header.name, name); });
}

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

std::string_view Request::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

std::string_view Request::query() const {
  const std::size_t mark = target.find('?');
  return mark == std::string::npos ? std::string_view{} : std::string_view(target).substr(mark + 1);
}

}  // namespace holdfast::http
