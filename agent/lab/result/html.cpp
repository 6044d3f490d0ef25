#include "agent/lab/result/html.h"

#include <cmath>

namespace holdfast::agent::lab {

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string decimal(double number) {
  const auto tenths = static_cast<std::int64_t>(std::llround(number * 10));
  std::string text = tenths < 0 ? "-" : "";
  const auto positive = tenths < 0 ? -tenths : tenths;
  text += std::to_string(positive / 10);
  if (positive % 10 != 0) text += "." + std::to_string(positive % 10);
  return text;
}

std::string element(std::string_view name, const Attributes& attributes, const std::string& inner) {
  std::string markup = "<" + std::string(name);
  for (const auto& [key, value] : attributes) {
    markup += " " + std::string(key) + "=\"" + escape_html(value) + "\"";
  }
  return markup + ">" + inner + "</" + std::string(name) + ">";
}

}  // namespace holdfast::agent::lab
