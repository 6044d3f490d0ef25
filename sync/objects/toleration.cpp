#include "sync/objects/toleration.h"

#include <algorithm>
#include <string>

#include "platform/text.h"
#include "sync/objects/names.h"

namespace holdfast::sync::objects {
namespace {

// As upstream, only canonical integers count: no plus sign, no leading zeros.
std::optional<std::int64_t> canonical_int(const std::string& text) {
  const auto value = parse_int<std::int64_t>(text);
  if (!value || std::to_string(*value) != text) return std::nullopt;
  return value;
}

bool compares(const Toleration& toleration, const Taint& taint) {
  const auto wanted = canonical_int(toleration.value);
  const auto found = canonical_int(taint.value);
  if (!wanted || !found) return false;
  return toleration.operator_name == "Gt" ? *found > *wanted : *found < *wanted;
}

const Toleration* first_match(const Taint& taint, const std::vector<Toleration>& tolerations,
                              bool comparisons) {
  for (const Toleration& toleration : tolerations) {
    if (tolerates(toleration, taint, comparisons)) return &toleration;
  }
  return nullptr;
}

}  // namespace

bool tolerates(const Toleration& toleration, const Taint& taint, bool comparisons) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  const std::string& op = toleration.operator_name;
  if (op.empty() || op == "Equal") return toleration.value == taint.value;
  if (op == "Exists") return true;
  return comparisons && (op == "Gt" || op == "Lt") && compares(toleration, taint);
}

std::optional<std::vector<Toleration>> matching_tolerations(
    const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations,
    bool comparisons) {
  std::vector<Toleration> used;
  for (const Taint& taint : taints) {
    const Toleration* match = first_match(taint, tolerations, comparisons);
    if (match == nullptr) return std::nullopt;
    used.push_back(*match);
  }
  return used;
}

std::optional<Duration> shortest_toleration(const std::vector<Toleration>& used) {
  if (used.empty()) return Duration::zero();
  // 100 years stand for all longer times: a Duration cannot hold more than 292 years.
  constexpr std::int64_t longest = 100LL * 365 * 24 * 3600;
  std::optional<std::int64_t> shortest;
  for (const Toleration& toleration : used) {
    if (!toleration.toleration_seconds) continue;
    const std::int64_t seconds = *toleration.toleration_seconds;
    if (!shortest || seconds < *shortest) shortest = seconds;
  }
  if (!shortest) return std::nullopt;
  return std::chrono::seconds(std::clamp(*shortest, std::int64_t{0}, longest));
}

std::vector<Taint> no_execute_taints(const std::vector<Taint>& taints) {
  std::vector<Taint> found;
  std::copy_if(taints.begin(), taints.end(), std::back_inserter(found),
               [](const Taint& taint) { return taint.effect == no_execute; });
  return found;
}

}  // namespace holdfast::sync::objects
