// Tells an answer that its server broke off from a broken connection. kube-apiserver resets the
// stream of an answer that takes longer than its --request-timeout (60 s), and goes on to serve
// others on the same connection.

#pragma once

#include "platform/http/h2/engine.h"
#include "platform/result.h"

namespace holdfast::http {

// The error of a stream that its server has reset with `code` (RST_STREAM; RFC 9113, section 6.4).
// `answered`: the head of its answer had arrived.
[[nodiscard]] Error reset_by_server(h2::Code code, bool answered);

// Whether the server broke off an answer whose head had arrived.
[[nodiscard]] bool is_broken_off(const Error& error);

}  // namespace holdfast::http
