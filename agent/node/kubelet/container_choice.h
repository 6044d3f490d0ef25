// Finds the run of a container that a caller means, with the kubelet's answers if there is none.
// Pure.

#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "sync/model/pod.h"
#include "sync/runtime/attempt.h"

namespace holdfast::agent::node {

// An answer that is not a success: an HTTP status and the text for the caller.
struct KubeletRefusal {
  int status = 500;
  std::string message;

  bool operator==(const KubeletRefusal&) const = default;
};

template <class T>
using KubeletAnswer = tl::expected<T, KubeletRefusal>;

// The attempt whose log is meant: the current or last one, or with `previous` the one before it.
// `observed` may be null. Refusals: 404 (the pod has no such container), 400 (it has not run yet,
// or there was no previous run).
[[nodiscard]] KubeletAnswer<std::int32_t> choose_log(const sync::Pod& pod,
                                                     const sync::runtime::ObservedPod* observed,
                                                     const std::string& container, bool previous);

// The attempt that runs now. Refusals: 404 (no such container), 500 with the kubelet's text (it
// does not run).
[[nodiscard]] KubeletAnswer<std::int32_t> choose_running(const sync::Pod& pod,
                                                         const sync::runtime::ObservedPod* observed,
                                                         const std::string& container);

}  // namespace holdfast::agent::node
