#include "platform/http/message.h"

#include <algorithm>
#include <array>

#include "platform/log.h"
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

std::optional<std::string> next_piece(BodyPieces& pieces) {
  auto piece = pieces.next();
  if (piece) return *std::move(piece);
  log_error("an answer broke off", {{"error", piece.error()}});
  return std::nullopt;
}

Status Response::join_pieces(std::size_t bytes_max) {
  if (!pieces) return {};
  if (pieces->size() > bytes_max) {
    return fail(Errc::exhausted, "the answer has " + std::to_string(pieces->size()) +
                                     " bytes, and " + std::to_string(bytes_max) +
                                     " are the most that can be changed as a whole");
  }
  body.reserve(pieces->size());
  for (;;) {
    TRY(const std::string piece, pieces->next());
    if (piece.empty()) break;
    body += piece;
  }
  pieces.reset();
  return {};
}

std::string_view Request::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

std::string_view Request::query() const {
  const std::size_t mark = target.find('?');
  return mark == std::string::npos ? std::string_view{} : std::string_view(target).substr(mark + 1);
}

}  // namespace holdfast::http
