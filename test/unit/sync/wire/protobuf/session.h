// The recorded traffic of a real kubelet: every body and every watch in protobuf.

#pragma once

#include <string>
#include <vector>

namespace holdfast::sync::wire::test {

struct Recorded {
  std::string where;  // for messages: "session.jsonl:17: GET /api/v1/nodes/edge1"
  std::string bytes;  // in its envelope
};

struct RecordedWatch {
  std::string where;
  std::vector<std::string> chunks;  // as they were received
};

// The bodies of requests and answers, in order.
[[nodiscard]] std::vector<Recorded> recorded_bodies();
[[nodiscard]] std::vector<RecordedWatch> recorded_watches();

// Every single object: bodies that are not lists, items of lists (each in an envelope) and objects
// of watch events.
[[nodiscard]] std::vector<Recorded> recorded_objects();

}  // namespace holdfast::sync::wire::test
