#include <algorithm>
#include <array>

#include "test/cases/preemption/operations.h"

namespace holdfast::cases {
namespace {

constexpr std::string_view profile = "v1.32";

// Cases of later releases that test our corrections of 1.32.
constexpr std::array<std::string_view, 15> corrections = {
    "filter/017-fit-ext-capacity-v134",
    "filter/019-fit-ext-capacity-init-v134",
    "filter/023-fit-ext-sum-v134",
    "filter/026-fit-ext-init-max-short-v134",
    "filter/028-fit-ext-unknown-v134",
    "filter/030-fit-ext-unknown-init-v134",
    "filter/032-fit-kio-v134",
    "filter/034-fit-kio-init-v134",
    "filter/036-fit-hugepages-v134",
    "filter/038-fit-hugepages-init-v134",
    "filter/040-fit-hugepages-sum-v134",
    "filter/053-fit-storage-3-v134",
    "prepare-candidate/006-being-deleted-sync",
    "prepare-candidate/007-being-deleted-async",
    "prepare-candidate/011-gone-async-head",
};

bool names_profile(const json::object& one) {
  const json::array& profiles = needs_elements(one, "profiles");
  return std::any_of(profiles.begin(), profiles.end(),
                     [](const json::value& each) { return text_of(each) == profile; });
}

bool pins_correction(const json::object& one) {
  return std::find(corrections.begin(), corrections.end(), text(one, "id")) != corrections.end();
}

Difference run_as(const json::object& one, Behaviour behaviour) {
  const std::string name = needs_text(one, "op");
  Check check(needs_object(one, "expect"));
  const Operation operation{name, needs_object(one, "given"), behaviour, check};
  const bool known = filter_operation(operation) || victim_operation(operation) ||
                     preemption_operation(operation) || preparation_operation(operation) ||
                     queue_operation(operation) || kubelet_operation(operation);
  if (!known) throw Malformed(one, "op", "unknown operation " + name);
  return check.result();
}

}  // namespace

bool is_for_us(const json::object& one) { return names_profile(one) || pins_correction(one); }

// Runs a case of 1.32 without our corrections and every case with them. If the corrections make a
// case fail on purpose, deviations.cpp lists it.
Difference run_preemption_case(const json::object& one) {
  if (names_profile(one)) {
    if (auto difference = run_as(one, Behaviour::plain)) return "plain: " + *difference;
  }
  if (auto difference = run_as(one, Behaviour::corrected)) return "corrected: " + *difference;
  return std::nullopt;
}

}  // namespace holdfast::cases
