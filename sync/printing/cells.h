// The cells of each kind's row in a table. Private to tables.cpp and printed.cpp.

#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "platform/time.h"

namespace holdfast::sync::printing {

// Appends the cells of one object to `cells`.
using FillCells = void (*)(boost::json::array& cells, const boost::json::object& object,
                           WallTime now);

// nullptr for a resource that has only name and age.
[[nodiscard]] FillCells workload_cells(std::string_view plural);
[[nodiscard]] FillCells batch_cells(std::string_view plural);
[[nodiscard]] FillCells config_cells(std::string_view plural);
[[nodiscard]] FillCells storage_cells(std::string_view plural);

void node_cells(boost::json::array& cells, const boost::json::object& node, WallTime now);
void pod_cells(boost::json::array& cells, const boost::json::object& pod, WallTime now);
void event_cells(boost::json::array& cells, const boost::json::object& event, WallTime now);

// Appends the names and the images of the containers in a workload's template.
void template_cells(boost::json::array& cells, const boost::json::object& workload);

// "a=1,b=2"; "<none>" if there are no labels.
[[nodiscard]] std::string format_labels(const boost::json::object& labels);
// A label selector as users type it: "app=web,tier in (a,b)"; "<none>" if it is empty.
[[nodiscard]] std::string format_selector(const boost::json::object& selector);
// The age of the object since its creation.
[[nodiscard]] std::string object_age(const boost::json::object& object, WallTime now);
// `text`, or `otherwise` if `text` is empty.
[[nodiscard]] std::string_view text_or(std::string_view text, std::string_view otherwise);

}  // namespace holdfast::sync::printing
