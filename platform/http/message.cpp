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

void Response::join_pieces() {
  if (!pieces) return;
  body.reserve(pieces->size());
  for (std::string piece = pieces->next(); !piece.empty(); piece = pieces->next()) body += piece;
  pieces.reset();
}

std::string_view Request::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

std::string_view Request::query() const {
  const std::size_t mark = target.find('?');
  return mark == std::string::npos ? std::string_view{} : std::string_view(target).substr(mark + 1);
}

}  // namespace holdfast::http
