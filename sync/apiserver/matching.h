// Who fits whom: label selectors, node affinity, taints and tolerations, on plain JSON.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::sync {

// A metav1.LabelSelector against labels. An empty selector fits everything.
[[nodiscard]] bool selects(const boost::json::object& selector, const boost::json::object& labels);

// Whether the labels of `object` fit.
[[nodiscard]] bool selects_object(const boost::json::object& selector,
                                  const boost::json::object& object);

// The pod's nodeSelector and required node affinity against a node.
[[nodiscard]] bool wants_node(const boost::json::object& pod, const boost::json::object& node);

// The first taint with one of `effects` ("NoSchedule", "NoExecute") that the pod does not tolerate;
// nullptr when it may come.
[[nodiscard]] const boost::json::object* untolerated_taint(const boost::json::object& pod,
                                                           const boost::json::object& node);

// The status of a condition: "True", "False", "Unknown", "" when there is none.
[[nodiscard]] std::string_view condition_status(const boost::json::object& object,
                                                std::string_view type);

// Succeeded or Failed.
[[nodiscard]] bool is_finished(const boost::json::object& pod);
[[nodiscard]] bool is_ready(const boost::json::object& pod);
// Neither finished nor being deleted.
[[nodiscard]] bool is_active(const boost::json::object& pod);

// The owner reference of `kind` with that uid controls `object`.
[[nodiscard]] bool is_controlled_by(const boost::json::object& object, std::string_view uid);

// "25%" of `total` rounded up or down, or the number itself.
[[nodiscard]] std::int64_t scaled(const boost::json::value* value, std::int64_t total,
                                  bool round_up);

// Sets a condition; lastTransitionTime becomes `now` (RFC 3339) only when the status changed.
void set_condition(boost::json::object& status, const boost::json::object& condition,
                   std::string_view now);

}  // namespace holdfast::sync
