// The cells of each kind's row in a table. Only tables.cpp and printed.cpp call these.

#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "platform/time.h"

namespace holdfast::sync {

// Appends the cells of one object to `cells`.
using FillCells = void (*)(boost::json::array& cells, const boost::json::object& object,
                           WallTime now);

// Nullptr for a resource that has name and age only.
[[nodiscard]] FillCells workload_cells(std::string_view plural);
[[nodiscard]] FillCells config_cells(std::string_view plural);
[[nodiscard]] FillCells storage_cells(std::string_view plural);

void node_cells(boost::json::array& cells, const boost::json::object& node, WallTime now);
void pod_cells(boost::json::array& cells, const boost::json::object& pod, WallTime now);
void event_cells(boost::json::array& cells, const boost::json::object& event, WallTime now);

// "a=1,b=2"; "<none>" when there are none.
[[nodiscard]] std::string format_labels(const boost::json::object& labels);
// A label selector in the way it is typed: "app=web,tier in (a,b)"; "<none>" when empty.
[[nodiscard]] std::string format_selector(const boost::json::object& selector);
// The age of the object since its creation.
[[nodiscard]] std::string object_age(const boost::json::object& object, WallTime now);
// `text`, or `otherwise` when it is empty.
[[nodiscard]] std::string_view text_or(std::string_view text, std::string_view otherwise);

}  // namespace holdfast::sync
