// The protocol of `kubectl exec` over a WebSocket: v5.channel.k8s.io and v4.channel.k8s.io. Pure.
//
// The first byte of each binary message says what it is about (Channel). Version 5 can also end a
// channel: kubectl ends the standard input with it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/node/kubelet/container_choice.h"
#include "agent/node/kubelet/exec_process.h"
#include "platform/query.h"
#include "platform/result.h"

namespace holdfast::agent::node {

inline constexpr std::string_view exec_protocols[] = {"v5.channel.k8s.io", "v4.channel.k8s.io"};

enum class Channel : std::uint8_t { input = 0, output = 1, error = 2, status = 3, resize = 4 };

// What the caller sent.
struct ExecInput {
  enum class Kind : std::uint8_t { bytes, end, resize, nothing };
  Kind kind = Kind::nothing;
  std::string bytes = {};
  TerminalSize size = {};

  bool operator==(const ExecInput&) const = default;
};

// Reads a binary message. Errors: invalid (an empty one, an unknown channel, a size that is none).
[[nodiscard]] Result<ExecInput> parse_exec_message(std::string_view message);

// A resize as JSON: {"Width":80,"Height":24}. Errors: invalid.
[[nodiscard]] Result<TerminalSize> parse_terminal_size(std::string_view json);

// The message for a channel.
[[nodiscard]] std::string exec_message(Channel channel, std::string_view bytes);

// The options in the query of a kubelet's exec. Refusal: 400 (no command, or no stream).
[[nodiscard]] KubeletAnswer<ExecOptions> parse_exec_options(const Query& query);

// What is sent at the end: a Status in JSON, with the exit code of the program. A program that a
// signal ended has 128 and its number, as in a shell.
[[nodiscard]] std::string exit_status_json(const ExecOptions& options,
                                           const proc::ExitStatus& status);
[[nodiscard]] std::string exec_failure_json(std::string_view why);

}  // namespace holdfast::agent::node
