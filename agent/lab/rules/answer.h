// The result of an API server rule: a value, or the Status that is sent to the client instead.

#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "sync/wire/status.h"

namespace holdfast::sync {

template <class T>
class [[nodiscard]] Answer : public tl::expected<T, ApiStatus> {
 public:
  using tl::expected<T, ApiStatus>::expected;
};

[[nodiscard]] inline tl::unexpected<ApiStatus> refuse(ApiStatus status) {
  return tl::unexpected<ApiStatus>(std::move(status));
}

}  // namespace holdfast::sync
