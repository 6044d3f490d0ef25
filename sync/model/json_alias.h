// The name `json` for Boost.JSON's namespace, in all rooms of sync.

#pragma once

namespace boost::json {}

namespace holdfast::sync::inline model {

namespace json = boost::json;

}  // namespace holdfast::sync::inline model
