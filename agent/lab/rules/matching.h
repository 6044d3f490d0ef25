// Matching on plain JSON objects: label selectors, node affinity, taints and tolerations,
// conditions.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::agent::lab {

// Whether a metav1.LabelSelector matches labels. An empty selector matches everything.
[[nodiscard]] bool selects(const boost::json::object& selector, const boost::json::object& labels);

// Whether a metav1.LabelSelector matches the labels of `object`.
[[nodiscard]] bool selects_object(const boost::json::object& selector,
                                  const boost::json::object& object);

// Whether a node matches the pod's nodeSelector and required node affinity.
[[nodiscard]] bool wants_node(const boost::json::object& pod, const boost::json::object& node);

// The first NoSchedule or NoExecute taint that the pod does not tolerate; nullptr if there is none.
[[nodiscard]] const boost::json::object* untolerated_taint(const boost::json::object& pod,
                                                           const boost::json::object& node);

// The status of a condition: "True", "False", "Unknown"; "" if there is none.
[[nodiscard]] std::string_view condition_status(const boost::json::object& object,
                                                std::string_view type);

// Succeeded or Failed.
[[nodiscard]] bool is_finished(const boost::json::object& pod);
[[nodiscard]] bool is_ready(const boost::json::object& pod);
// Neither finished nor being deleted.
[[nodiscard]] bool is_active(const boost::json::object& pod);

// Whether the controller of `object` has this uid.
[[nodiscard]] bool is_controlled_by(const boost::json::object& object, std::string_view uid);

// A percentage ("25%") of `total`, rounded up or down, or the number itself; 0 if `value` is
// nullptr.
[[nodiscard]] std::int64_t scaled(const boost::json::value* value, std::int64_t total,
                                  bool round_up);

// Sets a condition. lastTransitionTime becomes `now` (RFC 3339) only if the status changes.
void set_condition(boost::json::object& status, const boost::json::object& condition,
                   std::string_view now);

}  // namespace holdfast::agent::lab
