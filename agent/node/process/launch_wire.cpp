#include "agent/node/process/launch_wire.h"

#include <optional>

#include "platform/text.h"

namespace holdfast::agent::node {
namespace {

// Removes the string up to the next NUL from `from` and returns it.
std::optional<std::string_view> take_text(std::string_view& from) {
  const std::size_t end = from.find('\0');
  if (end == from.npos) return std::nullopt;
  const std::string_view text = from.substr(0, end);
  from.remove_prefix(end + 1);
  return text;
}

}  // namespace

std::string encode_launch(const sync::runtime::LaunchPlan& plan) {
  std::string out = std::to_string(plan.argv.size()) + '\0';
  for (const auto* texts : {&plan.argv, &plan.env}) {
    for (const std::string& text : *texts) {
      out += text;
      out += '\0';
    }
  }
  return out;
}

Result<sync::runtime::LaunchPlan> decode_launch(std::string_view text) {
  const auto bad = [] {
    return fail(Errc::corrupt, "the launch data on standard input is invalid");
  };
  const auto first = take_text(text);
  const auto count = first ? parse_int<std::size_t>(*first) : std::nullopt;
  if (!count || *count == 0) return bad();
  sync::runtime::LaunchPlan plan;
  while (!text.empty()) {
    const auto next = take_text(text);
    if (!next) return bad();
    auto& texts = plan.argv.size() < *count ? plan.argv : plan.env;
    texts.emplace_back(*next);
  }
  if (plan.argv.size() != *count) return bad();
  return plan;
}

}  // namespace holdfast::agent::node
