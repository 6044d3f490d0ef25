// The recorded conversations of a real kubelet with a real kube-apiserver, exchange by exchange.

#pragma once

#include <functional>
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
  int start = 0;  // of a kubelet's first exchange: how often it has been started, from 1

  [[nodiscard]] bool is_list() const;
  // Whether it is a watch that begins with all objects and a bookmark behind them.
  [[nodiscard]] bool is_watch_list() const;
  // The frames of such a watch before that bookmark.
  [[nodiscard]] std::size_t initial_frames() const;
  [[nodiscard]] bool is_token() const { return request.path().ends_with("/token"); }
  [[nodiscard]] bool is_lease() const {
    return request.path().find("/leases") != std::string_view::npos;
  }
  // "GET /api/v1/nodes/edge1?..., line 31", for messages.
  [[nodiscard]] std::string name() const;
};

// Each is a file of test/data/kubelet, named after the version of Kubernetes.
enum class Session { v1_20, v1_36 };

inline constexpr Session sessions[] = {Session::v1_20, Session::v1_36};

// For the names of tests: "v1_20".
[[nodiscard]] std::string to_string(Session session);

struct Recording {
  std::vector<Exchange> exchanges;  // in order; what was cut off before its answer is left out
  int second_start = 0;             // the lines at which the kubelet was started again
  int third_start = 0;

  // The first exchange that this holds for. There must be one.
  [[nodiscard]] const Exchange& first(const std::function<bool(const Exchange&)>& holds) const;
  // The kubelet's first renewal of its lease.
  [[nodiscard]] const Exchange& first_renewal() const;
};

// It is read once. Threading: the tests' thread only.
[[nodiscard]] const Recording& recording(Session session);

// What a list or a watch is about: its path and field selector.
[[nodiscard]] std::string scope_of(const http::Request& request);

}  // namespace holdfast::agent::replay
