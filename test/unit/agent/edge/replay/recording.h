// The recorded conversation of a real kubelet with a real kube-apiserver, exchange by exchange.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/http/message.h"
#include "platform/time.h"

namespace holdfast::agent::replay {

struct Frame {
  Duration at;        // since the first request
  std::string bytes;  // of the whole frame, with its length
  bool is_bookmark = false;
};

struct Exchange {
  int line = 0;  // in the file, from 1
  Duration at{};
  http::Request request;
  int status = 0;
  std::string body;           // of the answer
  std::vector<Frame> frames;  // of a watch
  bool is_watch = false;

  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_token() const { return request.path().ends_with("/token"); }
  [[nodiscard]] bool is_lease() const {
    return request.path().find("/leases") != std::string_view::npos;
  }
  // "GET /api/v1/nodes/edge1?..., line 31", for messages.
  [[nodiscard]] std::string name() const;
};

// In order. What was cut off before its answer is left out.
[[nodiscard]] const std::vector<Exchange>& recording();

// What a list or a watch is about: its path and field selector.
[[nodiscard]] std::string scope_of(const http::Request& request);

// The exchanges at which the kubelet was started again.
inline constexpr int second_start = 135;
inline constexpr int third_start = 170;

}  // namespace holdfast::agent::replay
