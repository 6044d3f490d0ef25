// The result of an API server rule: a value, or the Status that is sent to the client instead.

#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "sync/wire/status.h"

namespace holdfast::agent::lab {

template <class T>
class [[nodiscard]] Answer : public tl::expected<T, sync::wire::ApiStatus> {
 public:
  using tl::expected<T, sync::wire::ApiStatus>::expected;
};

[[nodiscard]] inline tl::unexpected<sync::wire::ApiStatus> refuse(sync::wire::ApiStatus status) {
  return tl::unexpected<sync::wire::ApiStatus>(std::move(status));
}

}  // namespace holdfast::agent::lab
