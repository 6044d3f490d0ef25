#include "test/cases/malformed.h"

#include <algorithm>
#include <cctype>

#include "sync/wire/json.h"

namespace holdfast::cases {
namespace {

bool is_plain(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

// Appends ".name", or "["na.me"]" for a name that is no plain word.
void append_member(std::string& path, std::string_view name) {
  if (is_plain(name)) {
    if (!path.empty()) path += '.';
    path += name;
    return;
  }
  path += '[';
  sync::wire::serialize_text_to(path, name);
  path += ']';
}

bool is_at(const json::value& value, const void* at) {
  if (&value == at) return true;
  if (value.is_object()) return &value.get_object() == at;
  return value.is_array() && &value.get_array() == at;
}

bool find_path(const json::value& value, const void* at, std::string& path) {
  if (is_at(value, at)) return true;
  const std::size_t length = path.size();
  if (value.is_object()) {
    for (const auto& member : value.get_object()) {
      append_member(path, {member.key().data(), member.key().size()});
      if (find_path(member.value(), at, path)) return true;
      path.resize(length);
    }
  }
  if (value.is_array()) {
    std::size_t index = 0;
    for (const json::value& element : value.get_array()) {
      path += "[" + std::to_string(index++) + "]";
      if (find_path(element, at, path)) return true;
      path.resize(length);
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> path_of(const json::value& root, const void* at) {
  std::string path;
  if (!find_path(root, at, path)) return std::nullopt;
  return path;
}

std::string Malformed::path(const json::value& root) const {
  auto found = path_of(root, at_);
  if (!found) return {};
  if (!member_.empty()) append_member(*found, member_);
  return *found;
}

Malformed Malformed::about(const json::value& part) const {
  return {part, member_.empty() ? what_ : member_ + ": " + what_};
}

bool Malformed::is_in(const json::value& part) const { return path_of(part, at_).has_value(); }

}  // namespace holdfast::cases
