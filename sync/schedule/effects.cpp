#include "sync/schedule/effects.h"

namespace holdfast::sync::schedule {
namespace {

constexpr std::size_t decisions = 0;  // an attempt or a pod's start waits for them
constexpr std::size_t deletions = 1;
constexpr std::size_t statuses = 2;
constexpr std::size_t reports = 5;

std::size_t urgency(const BindPod& /*what*/) { return decisions; }
std::size_t urgency(const AskExtender& /*what*/) { return decisions; }
std::size_t urgency(const BindVolume& /*what*/) { return decisions; }
std::size_t urgency(const SelectNode& /*what*/) { return decisions; }
std::size_t urgency(const DeletePod& /*what*/) { return deletions; }
std::size_t urgency(const PatchPodStatus& /*what*/) { return statuses; }
std::size_t urgency(const ClearNomination& /*what*/) { return statuses; }
std::size_t urgency(const RecordEvent& /*what*/) { return reports; }

}  // namespace

control::EffectOrder order_of(const Effect& effect) {
  const std::size_t found = std::visit([](const auto& one) { return urgency(one); }, effect.what);
  return {found, "", found == reports};
}

}  // namespace holdfast::sync::schedule
