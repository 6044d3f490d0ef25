// Answers in protobuf for those who prefer it: what was rendered in JSON is written over.
//
// Only what clients of ours read so: nodes, pods, leases and DaemonSets, got, listed or watched.
// Refusals stay JSON, which everyone takes.

#pragma once

#include "agent/lab/apiserver/call.h"

namespace holdfast::agent::lab {

[[nodiscard]] bool wants_protobuf(const Call& call);

// `response` is the answer to such a call.
[[nodiscard]] http::Response in_protobuf(http::Response response);

}  // namespace holdfast::agent::lab
