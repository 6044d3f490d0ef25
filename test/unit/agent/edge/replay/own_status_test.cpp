// A kubelet that is offline reads back its own status as it wrote it, with every field of its
// release. If the status were truncated, the kubelet would patch it again every 10 seconds.

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "sync/model/schema.h"
#include "sync/objects/patch/diff.h"
#include "sync/objects/protobuf.h"
#include "sync/wire/json.h"
#include "sync/wire/protobuf/envelope.h"
#include "test/unit/agent/edge/replay/replay_fixture.h"
#include "test/unit/sync/model/full_objects.h"

namespace holdfast::agent::replay::own_status {
namespace {

namespace json = boost::json;

struct Row {
  std::string kind;
  std::string path;
};

const Row rows[] = {{"Node", "/api/v1/nodes/edge1"},
                    {"Pod", "/api/v1/namespaces/default/pods/web"}};

http::Request from_kubelet(http::Method method, const std::string& target) {
  http::Request request{.method = method, .target = target};
  request.headers.add("User-Agent", "kubelet/v1.36.2 (linux/amd64) kubernetes/$Format");
  request.headers.add("Accept", std::string(sync::wire::protobuf_type) + ",application/json");
  return request;
}

// The object as the kubelet reads it.
json::object read(ReplayFixture& fixture, const Row& row) {
  const http::Response response = fixture.ask(from_kubelet(http::Method::get, row.path));
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.headers.get("content-type"), sync::wire::protobuf_type);
  return sync::objects::object_of_protobuf(response.body).value();
}

// A status with every field of the kind; scalars and addresses are those of the recorded object.
json::object full_status(const std::string& kind, const json::object& recorded) {
  json::object status = sync::test::full_object(sync::known_type(kind + "Status"));
  for (const auto& field : recorded.at("status").as_object()) {
    const bool is_scalar = !field.value().is_array() && !field.value().is_object();
    const bool is_address = field.key() == "podIPs" || field.key() == "hostIPs";
    if (is_scalar || is_address) status[field.key()] = field.value();
  }
  return status;
}

// Patches what differs, as a kubelet does. Returns whether anything differed.
bool patch_status(ReplayFixture& fixture, const Row& row, const json::object& wanted) {
  const json::object seen = read(fixture, row);
  json::object before{{"status", seen.at("status")}};
  json::object after{{"status", wanted}};
  const json::object patch = sync::objects::strategic_diff(row.kind, before, after).value();
  if (patch.empty()) return false;
  http::Request request = from_kubelet(http::Method::patch, row.path + "/status");
  request.headers.add("Content-Type", "application/strategic-merge-patch+json");
  request.body = json::serialize(patch);
  const http::Response response = fixture.ask(request);
  EXPECT_EQ(response.status, 200) << response.body;
  const json::object answered = sync::objects::object_of_protobuf(response.body).value();
  EXPECT_EQ(answered.at("status"), wanted) << row.kind;
  return true;
}

TEST(OwnStatus, IsPatchedOnceInHalfAnHourOffline) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.kind);
    ReplayFixture fixture(Session::v1_36);
    const auto ignore = [](const Exchange&, const http::Response&) {};
    fixture.play(fixture.recording.second_start - 1, ignore);
    fixture.cut();
    const json::object wanted = full_status(row.kind, read(fixture, row));
    int patches = 0;
    for (int round = 0; round < 180; ++round) {
      patches += patch_status(fixture, row, wanted) ? 1 : 0;
      fixture.time.run(10s);
    }
    EXPECT_EQ(patches, 1);
    EXPECT_EQ(read(fixture, row).at("status"), wanted);
  }
}

}  // namespace
}  // namespace holdfast::agent::replay::own_status
