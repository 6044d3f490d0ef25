// An agent in front of the lab's API server, in virtual time: a namespace with eight ConfigMaps,
// which a kubelet lists. The API server's watches may hang, and its data can be restored from a
// backup.

#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "agent/edge/admin/endpoints.h"
#include "agent/edge/edge.h"
#include "platform/http/client.h"
#include "platform/http/server.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/wire/read.h"
#include "test/support/edge_options.h"
#include "test/support/kubeconfig.h"
#include "test/support/scratch_dir.h"
#include "test/support/version_rows.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/filters/lab_server.h"

namespace holdfast::agent {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

inline const std::string versioned_maps = "/api/v1/namespaces/versions/configmaps";

struct ToldVersions {
  http::Response response;
  std::vector<std::string> lines;  // of a watch, until it ended
  Duration took{};
};

// A watch on which nothing arrives.
class HangingWatch final : public http::BodyStream {
 public:
  explicit HangingWatch(asio::any_io_executor executor) : cancelled_(std::move(executor)) {}

  asio::awaitable<Result<std::string>> next() override {
    while (!is_cancelled_) co_await cancelled_.wait();
    co_return fail(Errc::cancelled, "cancelled");
  }
  void cancel() override {
    is_cancelled_ = true;
    cancelled_.notify_all();
  }

 private:
  loop::Event cancelled_;
  bool is_cancelled_ = false;
};

class VersionsTest : public ::testing::Test {
 protected:
  VersionsTest() {
    open_lab("server");
    http_.listen(net::Listener::open(time_.executor(), at_, nullptr).value());
    create("/api/v1/nodes", "edge1");
    create("/api/v1/namespaces", "versions");
    for (int number = 1; number <= 8; ++number) {
      versions_.current = create(versioned_maps, "m" + std::to_string(number));
      if (number == 3) versions_.old = versions_.current;
    }
    close_lab();
    std::filesystem::copy(scratch_.path() / "server", scratch_.path() / "backup",
                          std::filesystem::copy_options::recursive);
    open_lab("server");
    start();
    // The kubelet's list opens the scope.
    EXPECT_EQ(ask(versioned_maps + "?resourceVersion=0").response.status, 200);
    versions_.current = listed_version();
    versions_.ahead = std::to_string(std::stoll(versions_.current) + 1'000'000);
  }

  ~VersionsTest() override {
    stop();
    lab_->stop();
    time_.complete(http_.stop(time_.clock().mono() + 1s));
    close_lab();
  }

  void open_lab(const std::string& folder) {
    lab_ = std::make_unique<test::LabServer>(time_.executor(), time_.clock(),
                                             scratch_.path() / folder);
    lab_tasks_ = std::make_unique<loop::Tasks>(time_.executor());
    lab_tasks_->spawn("lab", lab_->run());
  }

  void close_lab() {
    lab_->stop();
    time_.network().reset_connections(at_);
    time_.settle();
    lab_tasks_->cancel();
    time_.settle();
    lab_.reset();
  }

  // The API server is started again with what it had before start().
  void restore_backup() {
    close_lab();
    open_lab("backup");
  }

  void stop() {
    local_.reset();
    time_.complete(edge_->stop(time_.clock().mono() + 5s));
    edge_.reset();
  }

  void start() {
    const std::string kubeconfig =
        test::write_kubeconfig(scratch_.path() / "kubeconfig", "http://" + at_.text());
    test::set_up(options_, "edge1", kubeconfig, scratch_.path() / "data");
    options_.identity.secure_listen = "";
    options_.kubelet_grace = 0s;  // there is no kubelet
    options_.cache_agents = {"kubelet"};
    edge_ = Edge::make(time_.executor(), options_, time_.clock()).value();
    EXPECT_TRUE(edge_->start());
    local_ = std::make_unique<http::Client>(
        http::Endpoint{read_endpoints(options_.data_dir).value().proxy});
    EXPECT_TRUE(until(sync::autonomy::LinkState::connected));
  }

  // The API server: the lab's, whose watches may hang.
  asio::awaitable<http::Response> serve(const http::Request& request) {
    const bool is_watch = request.target.find("watch=true") != std::string::npos;
    const bool is_list = request.target.starts_with(versioned_maps + "?") && !is_watch;
    if (is_list) ++lists_;
    if (request.method == http::Method::put && request.target.starts_with(versioned_maps)) {
      ++writes_;
    }
    if (is_list && lists_hang_) co_await loop::sleep_until(time_.clock().mono() + 10min);
    http::Response response = co_await lab_->handler()(request);
    if (is_watch && watches_hang_) {
      response.stream = std::make_shared<HangingWatch>(time_.executor());
    }
    co_return response;
  }

  bool until(sync::autonomy::LinkState state) {
    return time_.run_until(2min, [&] { return edge_->uplink().link().state() == state; });
  }

  void cut() {
    time_.network().refuse(at_, true);
    time_.network().reset_connections(at_);
    EXPECT_TRUE(until(sync::autonomy::LinkState::offline));
  }

  // Creates an object directly in the cloud. Returns its resourceVersion.
  std::string create(const std::string& collection, const std::string& name) {
    http::Request request{.method = http::Method::post,
                          .target = collection,
                          .headers = {{"Content-Type", "application/json"}},
                          .body = R"({"metadata":{"name":")" + name + "\"}}"};
    ToldVersions told;
    time_.complete(asking(cloud_, std::move(request), told));
    EXPECT_EQ(told.response.status, 201) << told.response.body;
    return std::string(sync::wire::version_of(boost::json::parse(told.response.body).as_object()));
  }

  // Asks the agent as the kubelet does.
  ToldVersions ask(const std::string& target) {
    ToldVersions told;
    http::Request request{.target = target, .headers = {{"User-Agent", "kubelet/v1"}}};
    time_.complete(asking(*local_, std::move(request), told));
    return told;
  }

  asio::awaitable<void> asking(http::Client& client, http::Request request, ToldVersions& told) {
    const MonoTime began = time_.clock().mono();
    auto answer = co_await client.open(std::move(request), began + 30s);
    told.took = time_.clock().mono() - began;
    if (!answer) co_return;
    told.response = *std::move(answer);
    std::string body;
    while (told.response.stream) {
      const auto piece = co_await told.response.stream->next();
      if (!piece || piece->empty()) break;
      body += *piece;
    }
    told.response.stream.reset();
    if (told.response.body.empty()) told.response.body = body;
    for (const std::string_view line : split(body, '\n')) {
      if (!line.empty()) told.lines.emplace_back(line);
    }
  }

  std::string listed_version() {
    const boost::json::value list =
        boost::json::parse(ask(versioned_maps + "?resourceVersion=0").response.body);
    return std::string(sync::wire::dig_text(list.as_object(), {"metadata", "resourceVersion"}));
  }

  // The names of the ConfigMaps as the kubelet sees them: "m1 m2".
  std::string listed_names() {
    const boost::json::value list =
        boost::json::parse(ask(versioned_maps + "?resourceVersion=0").response.body);
    std::string names;
    for (const boost::json::value& each : list.as_object().at("items").as_array()) {
      names += (names.empty() ? "" : " ") + std::string(sync::wire::name_of(each.as_object()));
    }
    return names;
  }

  std::string described(const test::VersionRow& row) {
    const ToldVersions told = ask(row.target(versioned_maps, "m1", versions_));
    return describe_answer(row, told.response, told.lines, told.took, versions_);
  }

  test::ScratchDir scratch_;
  test::VirtualTime time_;
  net::HostPort at_{"10.0.0.1", 6443};
  std::unique_ptr<test::LabServer> lab_;
  std::unique_ptr<loop::Tasks> lab_tasks_;
  loop::Tasks tasks_{time_.executor()};
  bool watches_hang_ = false;
  bool lists_hang_ = false;
  int lists_ = 0;   // of the ConfigMaps
  int writes_ = 0;  // of ConfigMaps, with PUT
  http::Server http_{time_.executor(), {}, [this](const auto& request) { return serve(request); }};
  http::Client cloud_{http::Endpoint{at_}};
  EdgeOptions options_;
  std::unique_ptr<Edge> edge_;
  std::unique_ptr<http::Client> local_;
  test::KnownVersions versions_;
};

}  // namespace holdfast::agent
