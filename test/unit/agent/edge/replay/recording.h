// The recorded sessions of a real kubelet with a real kube-apiserver, exchange by exchange.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/http/message.h"
#include "platform/time.h"

namespace holdfast::agent::replay {

struct Frame {
  Duration at;        // the whole frame, with its length prefix
  std::string bytes;  // of the whole frame, with its length
  bool is_bookmark = false;
};

struct Exchange {
  int line = 0;  // line in the file, from 1
  Duration at{};
  http::Request request;
  int status = 0;
  std::string body;           // the body of the answer
  std::vector<Frame> frames;  // if it is a watch
  bool is_watch = false;
  // In the first exchange after a start of the kubelet: the number of that start, from 1; else 0.
  int start = 0;

  [[nodiscard]] bool is_list() const;
  // Whether it is a watch that begins with all objects and a bookmark after them.
  [[nodiscard]] bool is_watch_list() const;
  // The number of frames of such a watch before that bookmark.
  [[nodiscard]] std::size_t initial_frames() const;
  [[nodiscard]] bool is_token() const { return request.path().ends_with("/token"); }
  [[nodiscard]] bool is_lease() const {
    return request.path().find("/leases") != std::string_view::npos;
  }
  // "GET /api/v1/nodes/edge1?..., line 31", for messages.
  [[nodiscard]] std::string name() const;
};

// The recordings in test/data/kubelet, named after their version of Kubernetes.
enum class Session { v1_20, v1_36 };

inline constexpr Session sessions[] = {Session::v1_20, Session::v1_36};

// For test names: "v1_20".
[[nodiscard]] std::string to_string(Session session);

struct Recording {
  std::vector<Exchange> exchanges;  // in order; without requests that got no answer
  int second_start = 0;             // the lines at which the kubelet was started again
  int third_start = 0;

  // The first exchange for which `holds` is true. There must be one.
  [[nodiscard]] const Exchange& first(const std::function<bool(const Exchange&)>& holds) const;
  // The kubelet's first renewal of its lease.
  [[nodiscard]] const Exchange& first_renewal() const;
};

// Loads the recording once. Threading: the tests' thread only.
[[nodiscard]] const Recording& recording(Session session);

// What a list or watch selects: its path and field selector.
[[nodiscard]] std::string scope_of(const http::Request& request);

}  // namespace holdfast::agent::replay
