#include "sync/autonomy/reboot.h"

#include <algorithm>
#include <string_view>

#include "sync/objects/name.h"
#include "sync/wire/read.h"

namespace holdfast::sync::autonomy {
namespace {

bool has_ended(std::string_view phase) { return phase == "Succeeded" || phase == "Failed"; }

// "Terminated", before 1.22 "Shutdown": the pod was stopped; "NodeShutdown": it came meanwhile.
constexpr std::string_view shutdown_reasons[] = {"Terminated", "Shutdown", "NodeShutdown"};

// A plug-in that has not registered yet is an unexpected error; or the node has no such resource
// left.
constexpr std::string_view unexpected = "UnexpectedAdmissionError";
constexpr std::string_view out_of = "OutOf";

bool is_device_missing(std::string_view reason) {
  return reason == unexpected || (reason.starts_with(out_of) &&
                                  objects::is_extended_resource(reason.substr(out_of.size())));
}

}  // namespace

bool ends_by_reboot(const json::object& before, const json::object& status) {
  if (!has_ended(wire::dig_text(status, {"phase"}))) return false;
  if (has_ended(wire::dig_text(before, {"status", "phase"}))) return false;
  if (wire::is_terminating(before)) return false;
  const std::string_view reason = wire::dig_text(status, {"reason"});
  return std::find(std::begin(shutdown_reasons), std::end(shutdown_reasons), reason) !=
             std::end(shutdown_reasons) ||
         is_device_missing(reason);
}

}  // namespace holdfast::sync::autonomy
