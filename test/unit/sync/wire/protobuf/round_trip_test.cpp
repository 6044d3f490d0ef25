// Generated messages keep unknown fields: objects that are decoded and encoded again are equal
// field by field.

#include <algorithm>

#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/list.h"
#include "sync/wire/protobuf/node.pb.h"
#include "sync/wire/protobuf/pod.pb.h"
#include "sync/wire/protobuf/workload.pb.h"
#include "test/unit/sync/wire/protobuf/session.h"

namespace holdfast::sync::wire {
namespace {

struct Field {
  int number;
  std::string bytes;  // with its tag

  bool operator==(const Field&) const = default;
};

// The fields of a message by number; fields of the same number in their order.
std::vector<Field> fields_of(std::string_view message) {
  std::vector<Field> fields;
  WireCursor in(message);
  while (in.next()) {
    fields.push_back(
        {in.number(), std::string(message.substr(in.offset(), in.end_offset() - in.offset()))});
  }
  EXPECT_TRUE(in.ok());
  std::stable_sort(fields.begin(), fields.end(), [](const Field& left, const Field& right) {
    return left.number < right.number;
  });
  return fields;
}

// Whether two messages are equal, except for the order of fields with different numbers, at every
// level.
bool same(std::string_view left, std::string_view right) {
  if (left == right) return true;
  const std::vector<Field> lefts = fields_of(left);
  const std::vector<Field> rights = fields_of(right);
  if (lefts.size() != rights.size()) return false;
  for (std::size_t at = 0; at < lefts.size(); ++at) {
    if (lefts[at] == rights[at]) continue;
    WireCursor one(lefts[at].bytes);
    WireCursor other(rights[at].bytes);
    std::string_view inside;
    std::string_view other_inside;
    const bool nested = one.next() && other.next() && one.number() == other.number() &&
                        one.bytes(inside) && other.bytes(other_inside);
    if (!nested || inside.size() != other_inside.size() || !same(inside, other_inside)) {
      return false;
    }
  }
  return true;
}

template <class Message>
void goes_round(std::string_view bytes, const std::string& where) {
  Message message;
  ASSERT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) << where;
  const std::string again = message.SerializeAsString();
  EXPECT_EQ(again.size(), bytes.size()) << where;
  EXPECT_TRUE(same(again, bytes)) << where;
}

TEST(RoundTrip, EveryRecordedBodyIsEqualFieldByField) {
  using Check = void (*)(std::string_view, const std::string&);
  const std::map<std::string_view, Check> known = {
      {"Node", goes_round<messages::Node>},   {"NodeList", goes_round<messages::NodeList>},
      {"Pod", goes_round<messages::Pod>},     {"PodList", goes_round<messages::PodList>},
      {"Lease", goes_round<messages::Lease>}, {"LeaseList", goes_round<messages::LeaseList>},
  };
  int checked = 0;
  for (const test::Recorded& body : test::recorded_bodies()) {
    goes_round<messages::Unknown>(std::string_view(body.bytes).substr(4), body.where);
    const Envelope envelope = open_envelope(body.bytes).value();
    const auto check = known.find(envelope.kind);
    if (check == known.end()) continue;
    check->second(envelope.raw, body.where);
    ++checked;
  }
  EXPECT_GT(checked, 100);
}

TEST(RoundTrip, EveryRecordedWatchEventIsEqualFieldByField) {
  for (const test::Recorded& object : test::recorded_objects()) {
    const Envelope envelope = open_envelope(object.bytes).value();
    if (envelope.kind == "Pod") goes_round<messages::Pod>(envelope.raw, object.where);
    if (envelope.kind == "Node") goes_round<messages::Node>(envelope.raw, object.where);
  }
}

TEST(RoundTrip, UnknownFieldsAreKeptAtEveryLevel) {
  const auto wire = [](int number, std::string_view bytes) {
    std::string out;
    append_wire(out, number, bytes);
    return out;
  };
  const std::string future = wire(60, "\xff\x00") + std::string("\xe8\x03\x01", 3);
  const std::string toleration = wire(22, wire(1, "k") + future);
  const std::string pod = wire(1, wire(1, "a") + future) + wire(2, toleration + future) + future;
  goes_round<messages::Pod>(pod, "pod");
  goes_round<messages::DaemonSet>(wire(1, future) + wire(2, wire(2, pod)) + future, "daemonset");
  goes_round<messages::DaemonSetList>(wire(1, future) + wire(2, wire(1, future)) + future, "list");
  goes_round<messages::WatchEvent>(wire(1, "ADDED") + wire(2, wire(1, pod) + future), "event");
}

}  // namespace
}  // namespace holdfast::sync::wire
