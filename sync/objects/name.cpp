#include "sync/objects/name.h"

#include <algorithm>
#include <initializer_list>

#include "platform/text.h"

namespace holdfast::sync::objects {
namespace {

constexpr std::size_t label_max = 63;
constexpr std::size_t subdomain_max = 253;
constexpr std::size_t annotations_max = 256UL << 10;

constexpr std::string_view label_pattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view subdomain_pattern =
    R"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)";
constexpr std::string_view qualified_pattern = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

std::string too_long(std::size_t most) {
  return "must be no more than " + std::to_string(most) + " characters";
}

// The text of upstream's RegexError().
std::string mismatch(std::string_view what, std::string_view pattern,
                     std::initializer_list<std::string_view> examples) {
  std::string text(what);
  text += " (e.g. ";
  for (const std::string_view& example : examples) {
    if (&example != examples.begin()) text += " or ";
    text.append("'").append(example).append("', ");
  }
  return text.append("regex used for validation is '").append(pattern).append("')");
}

bool is_small(char c) { return is_lower(c) || is_digit(c); }

// Whether `value` starts and ends with `edge` characters and has only `edge` or `inner` characters.
bool matches(std::string_view value, bool (*edge)(char), std::string_view inner) {
  if (value.empty() || !edge(value.front()) || !edge(value.back())) return false;
  return std::all_of(value.begin(), value.end(),
                     [edge, inner](char c) { return edge(c) || inner.find(c) != inner.npos; });
}

bool matches_label(std::string_view value) { return matches(value, is_small, "-"); }

bool matches_subdomain(std::string_view value) {
  const auto parts = split(value, '.');
  return std::all_of(parts.begin(), parts.end(), matches_label);
}

bool matches_qualified(std::string_view value) { return matches(value, is_alnum, "-_."); }

void add_dots(std::string_view value, Reasons& reasons) {
  if (value == ".") {
    reasons.emplace_back("must not be '.'");
  } else if (value == "..") {
    reasons.emplace_back("must not be '..'");
  } else if (value.starts_with("..")) {
    reasons.emplace_back("must not start with '..'");
  }
}

std::string qualified_mismatch() {
  return mismatch(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character",
      qualified_pattern, {"MyName", "my.name", "123-abc"});
}

}  // namespace

Reasons check_dns1123_subdomain(std::string_view value) {
  Reasons reasons;
  if (value.size() > subdomain_max) reasons.push_back(too_long(subdomain_max));
  if (!matches_subdomain(value)) {
    reasons.push_back(
        mismatch("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                 "characters, '-' or '.', and must start and end with an alphanumeric character",
                 subdomain_pattern, {"example.com"}));
  }
  return reasons;
}

Reasons check_dns1123_label(std::string_view value) {
  Reasons reasons;
  if (value.size() > label_max) reasons.push_back(too_long(label_max));
  if (matches_label(value)) return reasons;
  if (matches_subdomain(value)) {
    reasons.emplace_back("must not contain dots");
  } else {
    reasons.push_back(
        mismatch("a lowercase RFC 1123 label must consist of lower case alphanumeric characters "
                 "or '-', and must start and end with an alphanumeric character",
                 label_pattern, {"my-name", "123-abc"}));
  }
  return reasons;
}

Reasons check_dns1035_label(std::string_view value) {
  Reasons reasons;
  if (value.size() > label_max) reasons.push_back(too_long(label_max));
  if (!matches_label(value) || !is_lower(value.front())) {
    reasons.push_back(
        mismatch("a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
                 "start with an alphabetic character, and end with an alphanumeric character",
                 "[a-z]([-a-z0-9]*[a-z0-9])?", {"my-name", "abc-123"}));
  }
  return reasons;
}

Reasons check_qualified_name(std::string_view value) {
  Reasons reasons;
  const auto parts = split(value, '/');
  if (parts.size() > 2) {
    return {"a qualified name " + qualified_mismatch() +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  }
  if (parts.size() == 2 && parts[0].empty()) {
    reasons.emplace_back("prefix part must be non-empty");
  } else if (parts.size() == 2) {
    for (const auto& why : check_dns1123_subdomain(parts[0])) {
      reasons.push_back("prefix part " + why);
    }
  }
  const std::string_view name = parts.back();
  if (name.empty()) reasons.emplace_back("name part must be non-empty");
  if (name.size() > label_max) reasons.push_back("name part " + too_long(label_max));
  if (!matches_qualified(name)) reasons.push_back("name part " + qualified_mismatch());
  return reasons;
}

Reasons check_label_value(std::string_view value) {
  Reasons reasons;
  if (value.size() > label_max) reasons.push_back(too_long(label_max));
  if (!value.empty() && !matches_qualified(value)) {
    reasons.push_back(
        mismatch("a valid label must be an empty string or consist of alphanumeric characters, "
                 "'-', '_' or '.', and must start and end with an alphanumeric character",
                 "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", {"MyValue", "my_value", "12345"}));
  }
  return reasons;
}

Reasons check_config_key(std::string_view value) {
  Reasons reasons;
  if (value.size() > subdomain_max) reasons.push_back(too_long(subdomain_max));
  const bool fits = std::all_of(value.begin(), value.end(), [](char c) {
    return is_alnum(c) || c == '-' || c == '.' || c == '_';
  });
  if (!fits || value.empty()) {
    reasons.push_back(
        mismatch("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                 "[-._a-zA-Z0-9]+", {"key.name", "KEY_NAME", "key-name"}));
  }
  add_dots(value, reasons);
  return reasons;
}

Reasons check_env_name(std::string_view value) {
  Reasons reasons;
  const bool fits = std::all_of(value.begin(), value.end(), [](char c) {
    return is_alnum(c) || c == '-' || c == '.' || c == '_';
  });
  if (!fits || value.empty() || is_digit(value.front())) {
    reasons.push_back(
        mismatch("a valid environment variable name must consist of alphabetic characters, "
                 "digits, '_', '-', or '.', and must not start with a digit",
                 "[-._a-zA-Z][-._a-zA-Z0-9]*", {"my.env-name", "MY_ENV.NAME", "MyEnvName1"}));
  }
  add_dots(value, reasons);
  return reasons;
}

Reasons check_path_segment(std::string_view value) {
  if (value == "." || value == "..") return {"may not be '" + std::string(value) + "'"};
  Reasons reasons;
  if (value.find('/') != value.npos) reasons.emplace_back("may not contain '/'");
  if (value.find('%') != value.npos) reasons.emplace_back("may not contain '%'");
  return reasons;
}

wire::FieldErrors check_labels(const StringMap& labels, const std::string& path) {
  wire::FieldErrors errors;
  for (const auto& [key, value] : labels) {
    for (auto& why : check_qualified_name(key)) {
      errors.push_back(wire::field::invalid(path, key, std::move(why)));
    }
    for (auto& why : check_label_value(value)) {
      errors.push_back(wire::field::invalid(path, value, std::move(why)));
    }
  }
  return errors;
}

wire::FieldErrors check_annotations(const StringMap& annotations, const std::string& path) {
  wire::FieldErrors errors;
  std::size_t size = 0;
  for (const auto& [key, value] : annotations) {
    size += key.size() + value.size();
    for (auto& why : check_qualified_name(to_lower(key))) {
      errors.push_back(wire::field::invalid(path, key, std::move(why)));
    }
  }
  if (size > annotations_max) errors.push_back(wire::field::too_long(path, annotations_max));
  return errors;
}

bool is_extended_resource(std::string_view resource) {
  return resource.find('/') != std::string_view::npos &&
         resource.find("kubernetes.io/") == std::string_view::npos &&
         !resource.starts_with("requests.");
}

}  // namespace holdfast::sync::objects
