#include "sync/lifecycle/autonomy.h"

#include "platform/check.h"
#include "sync/objects/names.h"

namespace holdfast::sync::lifecycle {

Autonomy autonomy_of(const StringMap& annotations) {
  Autonomy autonomy;
  autonomy.classic = annotations.get(objects::annotation_autonomy) == "true";
  const bool always = autonomy.classic || annotations.get(objects::annotation_binding) == "true";
  const std::string_view text = annotations.get(objects::annotation_autonomy_duration);
  autonomy.bound = always || !text.empty();
  autonomy.wanted = always;
  if (text.empty()) return autonomy;
  const auto duration = parse_duration(text);
  if (!duration) {
    autonomy.malformed = text;
  } else if (!always) {
    autonomy.wanted = true;
    if (*duration > Duration::zero()) autonomy.duration = *duration;
  }
  return autonomy;
}

bool is_withheld(const Autonomy& autonomy, AutonomyMode mode, MonoTime since, MonoTime now) {
  if (mode == AutonomyMode::openyurt_classic) return autonomy.classic;
  if (mode != AutonomyMode::withhold || !autonomy.wanted) return false;
  return now <= withheld_until(autonomy, since);
}

MonoTime withheld_until(const Autonomy& autonomy, MonoTime since) {
  if (!autonomy.duration || *autonomy.duration > MonoTime::max() - since) return MonoTime::max();
  return since + *autonomy.duration;
}

bool keeps_pods_ready(const Autonomy& autonomy, AutonomyMode mode, MonoTime since, MonoTime now) {
  switch (mode) {
    case AutonomyMode::off:
      return false;
    case AutonomyMode::withhold:
      return is_withheld(autonomy, mode, since, now);
    case AutonomyMode::openyurt:
      return autonomy.bound;
    case AutonomyMode::openyurt_classic:
      return autonomy.classic;
  }
  UNREACHABLE();
}

}  // namespace holdfast::sync::lifecycle
