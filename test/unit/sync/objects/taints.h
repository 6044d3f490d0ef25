// Taints and tolerations for tests.

#pragma once

#include <optional>
#include <string>

#include "sync/model/node.h"
#include "sync/model/pod.h"
#include "sync/objects/names.h"

namespace holdfast::sync::objects {

inline Taint make_no_execute(const std::string& key) {
  Taint taint;
  taint.key = key;
  taint.effect = no_execute;
  return taint;
}

// A toleration with operator Exists and effect NoExecute; endless without `seconds`.
inline Toleration make_toleration(const std::string& key, std::optional<std::int64_t> seconds) {
  Toleration toleration;
  toleration.key = key;
  toleration.operator_name = "Exists";
  toleration.effect = no_execute;
  toleration.toleration_seconds = seconds;
  return toleration;
}

}  // namespace holdfast::sync::objects
