// `kubectl exec` over SPDY/3.1 (v4.channel.k8s.io), as clients before 1.31 and API servers use it.
//
// The caller opens a stream for each of the program's streams, one for the final Status ("error")
// and one for sizes of the terminal. Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/node/kubelet/exec_session.h"
#include "platform/net/connection.h"

namespace holdfast::agent::node {

inline constexpr std::string_view spdy_exec_protocol = "v4.channel.k8s.io";

// Takes complete sizes from the front of `text`, which are JSON objects one after the other, and
// leaves the rest. Errors: invalid (no size, or a long text without one).
[[nodiscard]] Result<std::vector<TerminalSize>> take_sizes(std::string& text);

// Waits for the streams that the options need, and runs the program.
asio::awaitable<void> run_spdy_exec(std::shared_ptr<net::Connection> connection,
                                    ExecOptions options, proc::ProcessIdentity container);

}  // namespace holdfast::agent::node
