// A program that is run beside a container's own, with pipes or a terminal in place of its streams.
//
// It gets the environment and the working directory of the container's process. It does not outlive
// this object.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/proc/identity.h"
#include "platform/result.h"

namespace holdfast::agent::node {

namespace asio = boost::asio;

// What the caller wants to run.
struct ExecOptions {
  std::vector<std::string> command;
  bool input = false;
  bool output = false;
  bool error = false;
  bool terminal = false;  // then `error` is part of `output`

  bool operator==(const ExecOptions&) const = default;
};

struct TerminalSize {
  std::uint16_t columns = 0;
  std::uint16_t rows = 0;

  bool operator==(const TerminalSize&) const = default;
};

class ExecProcess {
 public:
  // Starts it. Errors: not_found (the program, or the container's process has ended), denied,
  // invalid (a NUL in the command), exhausted.
  [[nodiscard]] static Result<std::unique_ptr<ExecProcess>> start(
      const asio::any_io_executor& executor, const ExecOptions& options,
      const proc::ProcessIdentity& container);
  // Kills what still runs of its process group.
  ~ExecProcess();
  ExecProcess(const ExecProcess&) = delete;
  ExecProcess& operator=(const ExecProcess&) = delete;

  enum class Output : std::uint8_t { output, error };
  [[nodiscard]] bool has(Output which) const { return stream(which) != nullptr; }
  // Waits for output. Returns how much was read; 0 at its end.
  asio::awaitable<std::size_t> read(Output which, std::span<char> into);
  // Writes to its standard input; false if it reads no more. Without an input, nothing is written.
  asio::awaitable<bool> write(std::string_view bytes);
  // Ends its standard input. To a terminal, that is a ^D.
  asio::awaitable<void> end_input();
  void resize(TerminalSize size);

  // Waits until it has ended.
  asio::awaitable<proc::ExitStatus> wait();
  void kill();

 private:
  using Stream = std::unique_ptr<asio::posix::stream_descriptor>;
  ExecProcess() = default;
  [[nodiscard]] asio::posix::stream_descriptor* stream(Output which) const {
    return which == Output::output ? output_.get() : error_.get();
  }

  proc::ProcessIdentity identity_;
  Stream input_;
  Stream output_;  // of a terminal, a duplicate of `input_`
  Stream error_;
  bool is_terminal_ = false;
  std::optional<proc::ExitStatus> exit_;
};

// Waits until the process has ended; on a kernel before 5.3 by asking ten times a second.
asio::awaitable<void> await_end(proc::ProcessIdentity process);

}  // namespace holdfast::agent::node
