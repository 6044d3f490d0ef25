// Converts JSON answers to protobuf for clients that prefer it.
// Only for nodes, pods, leases and DaemonSets: for get, list and watch, and as the metadata of one
// object. Errors stay JSON, which every client accepts.

#pragma once

#include "agent/lab/apiserver/call.h"

namespace holdfast::agent::lab {

// Whether the answer to `call` is to be converted.
[[nodiscard]] bool wants_protobuf(const Call& call);

// Converts the answer to such a call in this form, a watch stream included.
[[nodiscard]] http::Response in_protobuf(http::Response response, sync::wire::Form form);

}  // namespace holdfast::agent::lab
