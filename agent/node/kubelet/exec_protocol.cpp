#include "agent/node/kubelet/exec_protocol.h"

#include <algorithm>
#include <boost/json/value.hpp>

#include "platform/text.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"
#include "sync/wire/status.h"

namespace holdfast::agent::node {
namespace {

constexpr unsigned char end_of_channel = 255;

tl::unexpected<KubeletRefusal> bad_exec(std::string message) {
  return tl::unexpected(KubeletRefusal{400, std::move(message)});
}

}  // namespace

Result<ExecInput> parse_exec_message(std::string_view message) {
  if (message.empty()) return fail(Errc::invalid, "exec: a message without a channel");
  const auto channel = static_cast<unsigned char>(message.front());
  const std::string_view rest = message.substr(1);
  if (channel == end_of_channel) {
    const bool ends_input = rest.size() == 1 && rest.front() == '\0';
    return ExecInput{.kind = ends_input ? ExecInput::Kind::end : ExecInput::Kind::nothing};
  }
  if (channel == static_cast<unsigned char>(Channel::input)) {
    if (rest.empty()) return ExecInput{};
    return ExecInput{.kind = ExecInput::Kind::bytes, .bytes = std::string(rest)};
  }
  if (channel == static_cast<unsigned char>(Channel::resize)) {
    if (rest.empty()) return ExecInput{};
    TRY(const TerminalSize size, parse_terminal_size(rest));
    return ExecInput{.kind = ExecInput::Kind::resize, .size = size};
  }
  return fail(Errc::invalid,
              "exec: channel " + std::to_string(channel) + " is not one for a caller");
}

Result<TerminalSize> parse_terminal_size(std::string_view json) {
  const auto value = sync::wire::parse_json(json);
  if (!value || !value->is_object()) return fail(Errc::invalid, "exec: a size that is not JSON");
  const auto& object = value->get_object();
  const std::int64_t columns = sync::wire::dig_int(object, {"Width"});
  const std::int64_t rows = sync::wire::dig_int(object, {"Height"});
  constexpr std::int64_t most = 65535;
  if (columns < 0 || rows < 0 || columns > most || rows > most) {
    return fail(Errc::invalid, "exec: a size of a terminal outside 0 to 65535");
  }
  return TerminalSize{static_cast<std::uint16_t>(columns), static_cast<std::uint16_t>(rows)};
}

std::string exec_message(Channel channel, std::string_view bytes) {
  std::string message;
  message.reserve(bytes.size() + 1);
  message += static_cast<char>(channel);
  return message.append(bytes);
}

KubeletAnswer<ExecOptions> parse_exec_options(const Query& query) {
  ExecOptions options{.command = {},
                      .input = query.flag("input"),
                      .output = query.flag("output"),
                      .error = query.flag("error"),
                      .terminal = query.flag("tty")};
  for (const auto& [name, value] : query) {
    if (name == "command") options.command.push_back(value);
  }
  // As the kubelet: a terminal has no standard error of its own.
  if (options.terminal) options.error = false;
  if (!options.input && !options.output && !options.error) {
    return bad_exec("you must specify at least 1 of stdin, stdout, stderr");
  }
  if (options.command.empty() || options.command.front().empty()) {
    return bad_exec("you must specify a command");
  }
  return options;
}

std::string exit_status_json(const ExecOptions& options, const proc::ExitStatus& status) {
  const int code = status.signalled ? 128 + status.number : status.number;
  if (code == 0) return R"({"metadata":{},"status":"Success"})";
  sync::wire::ApiStatus failed;
  failed.reason = "NonZeroExitCode";
  failed.code = 0;
  failed.message = "command terminated with non-zero exit code: error executing command [" +
                   join(options.command, " ") + "], exit code " + std::to_string(code);
  failed.details.emplace();
  failed.details->causes.push_back({"ExitCode", std::to_string(code), ""});
  return failed.body();
}

std::string exec_failure_json(std::string_view why) {
  return sync::wire::status::internal_error("error executing command in container: " +
                                            std::string(why))
      .body();
}

}  // namespace holdfast::agent::node
