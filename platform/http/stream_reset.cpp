#include "platform/http/stream_reset.h"

#include <string>
#include <system_error>

namespace holdfast::http {
namespace {

class StreamResets final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "http2.stream"; }
  [[nodiscard]] std::string message(int code) const override {
    return h2::to_string(static_cast<h2::Code>(code));
  }
};

const std::error_category& stream_resets() {
  static const StreamResets category;
  return category;
}

}  // namespace

Error reset_by_server(h2::Code code, bool answered) {
  Error error{Errc::unavailable, "the server ended the stream: " + h2::to_string(code)};
  if (answered) error.cause = {static_cast<int>(code), stream_resets()};
  return error;
}

bool is_broken_off(const Error& error) { return error.cause.category() == stream_resets(); }

}  // namespace holdfast::http
