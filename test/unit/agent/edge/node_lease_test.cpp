// The agent's own lease, with a server that stores one lease.

#include "agent/edge/forward/node_lease.h"

#include "platform/http/server.h"
#include "platform/loop/timer.h"
#include "sync/objects/patch/patch.h"
#include "sync/wire/codec.h"
#include "sync/wire/object_header.h"
#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "test/support/run.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t npos = std::string::npos;
const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

// A wall clock that the test sets.
struct JumpingClock final : Clock {
  explicit JumpingClock(const Clock& loops) : loops_(loops) {}
  [[nodiscard]] MonoTime mono() const override { return loops_.mono(); }
  [[nodiscard]] WallTime wall() const override { return now; }
  WallTime now = WallTime(std::chrono::hours(500'000));

 private:
  const Clock& loops_;
};

struct LeaseServer {
  explicit LeaseServer(asio::io_context& context)
      : server(context.get_executor(), {},
               [this](const http::Request& request) { return handle(request); }) {
    auto listener = net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, nullptr).value();
    port = listener->port();
    server.listen(std::move(listener));
  }

  asio::awaitable<http::Response> handle(const http::Request& request) {
    http::Response response;
    if (request.path() == "/api/v1/nodes/edge-a") {
      asked.emplace_back("GET node");
      response.status = node_uid.empty() ? 404 : 200;
      response.body = R"({"metadata":{"name":"edge-a","uid":")" + node_uid + R"("}})";
      co_return response;
    }
    asked.push_back(std::string(to_string(request.method)) + " " +
                    std::string(request.path().substr(leases.size())));
    if (request.body.find(R"("managedFields":[{}])") != npos) asked.back() += " lean";
    if (request.method == http::Method::post) {
      store(request.body);
      response.status = 201;
    } else if (lease.empty()) {
      response.status = 404;
    } else if (request.method != http::Method::get) {
      const std::string mine = sync::wire::read_header(lease).value().resource_version;
      if (sync::wire::read_header(request.body).value().resource_version != mine) {
        response.status = 409;
      } else if (request.method == http::Method::put) {
        store(request.body);
      } else {
        EXPECT_EQ(request.headers.get("Content-Type"), "application/merge-patch+json");
        store(patched(request.body));
      }
    }
    if (response.status < 300) response.body = lease;
    const bool metadata = request.headers.get("Accept").find("PartialObjectMetadata") != npos;
    if (response.status < 300 && metadata) response.body = metadata_of(lease);
    co_return response;
  }

  // A renewal is answered with this much of the lease.
  std::string (*metadata_of)(const std::string&) = [](const std::string& whole) { return whole; };

  [[nodiscard]] std::string patched(const std::string& patch) const {
    auto known = sync::wire::parse_json(lease).value();
    const auto merged = sync::objects::apply_patch(sync::objects::PatchType::merge, "Lease",
                                                   std::move(known), patch)
                            .value();
    return sync::wire::serialize(merged);
  }

  void store(const std::string& body) {
    lease = sync::wire::with_resource_version(body, std::to_string(++version)).value();
    const std::string time =
        sync::wire::text_at(lease, {"spec", "renewTime"}).value().value_or("missing");
    EXPECT_GT(time, last_renewal);
    last_renewal = time;
  }

  std::uint16_t port = 0;
  std::string node_uid = "n1";  // "": there is no such Node
  std::string lease;
  int version = 10;
  std::string last_renewal;
  std::vector<std::string> asked;
  http::Server server;
};

// The lease of a node and its server.
struct LeaseBench {
  explicit LeaseBench(asio::io_context& context)
      : cloud(context),
        clock(loop::clock_of(context.get_executor())),
        client(ApiClient::make(access(cloud), clock, "test").value()),
        uplink(context.get_executor(), {}, *client, clock, random),
        lease("edge-a", 40s, 0s, clock) {}

  // Each request by its method and path; "lean": it removes the managedFields.
  [[nodiscard]] std::vector<std::string> take_asked() { return std::exchange(cloud.asked, {}); }
  asio::awaitable<void> stop() {
    client->forget_connections();
    co_await cloud.server.stop(test::VirtualClock::begin + 5min);
  }

  LeaseServer cloud;
  JumpingClock clock;
  Random random{1};
  std::shared_ptr<ApiClient> client;
  Uplink uplink;
  NodeLease lease;

 private:
  static ClusterAccess access(const LeaseServer& cloud) {
    ClusterAccess made;
    made.server = {"127.0.0.1", cloud.port};
    return made;
  }
};

TEST(NodeLease, IsMadeRenewedAndMadeAgainWithATimeThatOnlyGrows) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    LeaseBench bench(context);
    LeaseServer& cloud = bench.cloud;
    NodeLease& lease = bench.lease;
    Uplink& uplink = bench.uplink;
    const auto take = [&bench] { return bench.take_asked(); };
    using Asked = std::vector<std::string>;

    Status renewed = co_await lease.renew(uplink);
    EXPECT_TRUE(renewed);
    EXPECT_EQ(take(), (Asked{"GET /edge-a", "GET node", "POST "}));
    const auto made = sync::wire::decode_bytes<sync::Lease>(cloud.lease).value();
    EXPECT_EQ(made.spec.holder_identity, "edge-a");
    EXPECT_EQ(made.spec.lease_duration_seconds, 40);
    EXPECT_EQ(made.metadata.owner_references.size(), 1u);

    renewed = co_await lease.renew(uplink);
    EXPECT_EQ(take(), Asked{"PATCH /edge-a lean"});
    const auto same = sync::wire::decode_bytes<sync::Lease>(cloud.lease).value();
    EXPECT_EQ(same.spec.holder_identity, "edge-a");
    EXPECT_EQ(same.metadata.owner_references, made.metadata.owner_references);
    bench.clock.now -=
        1h;  // the wall clock goes back; LeaseServer::store() checks that renewTime grows
    renewed = co_await lease.renew(uplink);
    EXPECT_TRUE(renewed);
    EXPECT_EQ(take(), Asked{"PATCH /edge-a"});

    // Somebody else wrote it.
    cloud.lease = sync::wire::with_resource_version(cloud.lease, "999").value();
    renewed = co_await lease.renew(uplink);
    EXPECT_TRUE(renewed);
    EXPECT_EQ(take(), (Asked{"PATCH /edge-a", "GET /edge-a", "PUT /edge-a"}));

    cloud.lease.clear();  // somebody deleted it
    renewed = co_await lease.renew(uplink);
    EXPECT_TRUE(renewed);
    EXPECT_EQ(take(), (Asked{"PATCH /edge-a lean", "GET /edge-a", "GET node", "POST "}));

    std::string last = cloud.last_renewal;
    for (int i = 0; i < 3; ++i) {
      const std::string shown = lease.renew_locally("77");
      const std::string time = sync::wire::text_at(shown, {"spec", "renewTime"}).value().value();
      EXPECT_GT(time, last);
      last = time;
      EXPECT_EQ(sync::wire::read_header(shown).value().resource_version, "77");
    }
    renewed = co_await lease.renew(uplink);
    EXPECT_TRUE(renewed);
    EXPECT_GT(cloud.last_renewal, last);
    co_await bench.stop();
    renewed = co_await lease.renew(uplink);
    EXPECT_FALSE(renewed);
  });
}

// PartialObjectMetadata with a version only, in protobuf.
std::string in_protobuf(const std::string& lease) {
  std::string metadata;
  sync::wire::append_wire(metadata, 6, sync::wire::read_header(lease).value().resource_version);
  std::string object;
  sync::wire::append_wire(object, 1, metadata);
  return sync::wire::enveloped("meta.k8s.io/v1", "PartialObjectMetadata", object);
}

// After an answer that is of no use the lease is read again, and then renewed as before.
TEST(NodeLease, UnderstandsEveryFormOfTheAnswerToARenewal) {
  using Asked = std::vector<std::string>;
  const Asked usual{"PATCH /edge-a"};
  const Asked unconditional{"PATCH /edge-a", "GET /edge-a", "PUT /edge-a"};
  const Asked again{"PATCH /edge-a lean", "GET /edge-a", "PUT /edge-a"};
  const struct {
    std::string_view what;
    std::string (*metadata_of)(const std::string&);
    bool renewed;
    Asked next;
  } rows[] = {
      {"protobuf", in_protobuf, true, usual},
      {"JSON", [](const std::string& lease) { return lease; }, true, usual},
      {"nothing", [](const std::string&) { return std::string(); }, false, again},
      {"half of it", [](const std::string& lease) { return lease.substr(0, 20); }, false, again},
      {"protobuf that ends too soon",
       [](const std::string& lease) {
         const std::string whole = in_protobuf(lease);
         return whole.substr(0, whole.size() - 6);
       },
       false, again},
      {"a page", [](const std::string&) { return std::string("<html>login</html>"); }, false,
       unconditional},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    test::run([&row](asio::io_context& context) -> asio::awaitable<void> {
      LeaseBench bench(context);
      LeaseServer& cloud = bench.cloud;
      NodeLease& lease = bench.lease;
      Uplink& uplink = bench.uplink;
      Status renewed = co_await lease.renew(uplink);
      EXPECT_TRUE(renewed);

      cloud.metadata_of = row.metadata_of;
      cloud.asked.clear();
      renewed = co_await lease.renew(uplink);
      EXPECT_EQ(renewed.has_value(), row.renewed);
      EXPECT_EQ(cloud.asked, Asked{"PATCH /edge-a lean"});
      cloud.asked.clear();
      renewed = co_await lease.renew(uplink);
      EXPECT_EQ(cloud.asked, row.next);
      co_await bench.stop();
    });
  }
}

// After each answer that shows the whole lease the next renewal removes its managedFields, and no
// other one does: an API server that records them all the same is not fought.
TEST(NodeLease, HasNoManagedFields) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    LeaseBench bench(context);
    using Asked = std::vector<std::string>;
    for (int i = 0; i < 2; ++i) {
      const Status renewed = co_await bench.lease.renew(bench.uplink);
      EXPECT_TRUE(renewed);
    }
    EXPECT_EQ(bench.take_asked(),
              (Asked{"GET /edge-a", "GET node", "POST ", "PATCH /edge-a lean"}));

    auto theirs = sync::wire::parse_json(bench.cloud.lease).value();
    theirs.as_object()["metadata"].as_object()["managedFields"] =
        sync::wire::parse_json(R"([{"manager":"m"}])").value();
    bench.cloud.lease = sync::wire::serialize(theirs);
    Status renewed = co_await bench.lease.renew(bench.uplink);
    EXPECT_TRUE(renewed);
    EXPECT_EQ(bench.take_asked(), Asked{"PATCH /edge-a"});

    // Its owner changes: of the managedFields nothing is written.
    bench.lease.set_node_uid("n2");
    renewed = co_await bench.lease.renew(bench.uplink);
    EXPECT_TRUE(renewed);
    EXPECT_EQ(bench.take_asked(), Asked{"PUT /edge-a"});
    EXPECT_EQ(bench.cloud.lease.find("managedFields"), npos);
    EXPECT_EQ(bench.lease.renew_locally("1").find("managedFields"), npos);
    for (const char* expected : {"PATCH /edge-a lean", "PATCH /edge-a"}) {
      renewed = co_await bench.lease.renew(bench.uplink);
      EXPECT_EQ(bench.take_asked(), Asked{expected});
    }
    co_await bench.stop();
  });
}

std::string lease_owner(const LeaseServer& cloud) {
  const auto lease = sync::wire::decode_bytes<sync::Lease>(cloud.lease).value();
  const auto& owners = lease.metadata.owner_references;
  return owners.size() == 1 ? owners[0].kind + " " + owners[0].name + " " + owners[0].uid : "";
}

// The garbage collector deletes a lease whose owner is gone, and an API server without the Node
// must not get one at all.
TEST(NodeLease, BelongsToTheNodeThatThereIs) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    LeaseBench bench(context);
    LeaseServer& cloud = bench.cloud;
    NodeLease& lease = bench.lease;
    Uplink& uplink = bench.uplink;
    const auto take = [&bench] { return bench.take_asked(); };
    using Asked = std::vector<std::string>;

    cloud.node_uid.clear();
    Status renewed = co_await lease.renew(uplink);
    EXPECT_FALSE(renewed);
    EXPECT_EQ(take(), (Asked{"GET /edge-a", "GET node"}));
    EXPECT_EQ(cloud.lease, "");

    cloud.node_uid = "n1";  // the kubelet has registered it
    renewed = co_await lease.renew(uplink);
    EXPECT_TRUE(renewed);
    EXPECT_EQ(lease_owner(cloud), "Node edge-a n1");
    take();

    // The Node is replaced, and the garbage collector deletes the old one's lease.
    cloud.node_uid = "n2";
    cloud.lease.clear();
    renewed = co_await lease.renew(uplink);
    EXPECT_TRUE(renewed);
    EXPECT_EQ(take(), (Asked{"PATCH /edge-a lean", "GET /edge-a", "GET node", "POST "}));
    EXPECT_EQ(lease_owner(cloud), "Node edge-a n2");

    // It is replaced again, and the lease is still there: the agent learns it from its watch.
    cloud.node_uid = "n3";
    lease.set_node_uid("n3");
    renewed = co_await lease.renew(uplink);
    EXPECT_TRUE(renewed);
    EXPECT_EQ(take(), Asked{"PUT /edge-a"});
    EXPECT_EQ(lease_owner(cloud), "Node edge-a n3");
    renewed = co_await lease.renew(uplink);
    EXPECT_EQ(take(), Asked{"PATCH /edge-a lean"});

    // Somebody insists on another owner: the agent does not.
    auto theirs = sync::wire::decode_bytes<sync::Lease>(cloud.lease).value();
    theirs.metadata.owner_references[0].uid = "other";
    theirs.metadata.resource_version = "999";
    cloud.lease = sync::wire::encode_bytes(theirs);
    for (int i = 0; i < 2; ++i) {
      renewed = co_await lease.renew(uplink);
      EXPECT_TRUE(renewed);
    }
    EXPECT_EQ(lease_owner(cloud), "Node edge-a other");
    co_await bench.stop();
  });
}

}  // namespace
}  // namespace holdfast::agent
