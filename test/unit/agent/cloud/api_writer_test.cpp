// The requests that the writer sends for an effect, and the outcome that it derives from the
// server's answers.

#include "agent/cloud/api_writer.h"

#include "platform/http/server.h"
#include "platform/loop/timer.h"
#include "test/support/run.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
namespace lifecycle = sync::lifecycle;
using Lines = std::vector<std::string>;

const lifecycle::PodRef pod{"ns", "p", "uid-p"};

struct Answer {
  int status = 200;
  std::string body = "{}";
};

// An API server that gives the answers of a list in order, then 500, and a writer connected to it.
class Stage {
 public:
  Stage(asio::io_context& context, std::vector<Answer> answers)
      : answers_(std::move(answers)),
        clock_(loop::clock_of(context.get_executor())),
        server_(context.get_executor(), {},
                [this](const http::Request& request) { return answer(request); }) {
    auto listener = net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, nullptr).value();
    ClusterAccess access;
    access.server = {"127.0.0.1", listener->port()};
    server_.listen(std::move(listener));
    client_ = ApiClient::make(std::move(access), clock_, "test").value();
    writer_ =
        std::make_unique<ApiWriter>(context.get_executor(), *client_, options_, clock_, random_);
  }

  asio::awaitable<lifecycle::Outcome> perform(lifecycle::Effect effect) {
    return writer_->perform(std::move(effect));
  }
  asio::awaitable<void> stop() { return server_.stop(test::VirtualClock::begin + 5min); }

  Lines asked;  // "DELETE /api/v1/..."

 private:
  asio::awaitable<http::Response> answer(const http::Request& request) {
    const std::size_t number = asked.size();
    asked.push_back(std::string(http::to_string(request.method)) + " " + request.target);
    http::Response response{.status = 500};
    if (number < answers_.size()) {
      response.status = answers_[number].status;
      response.body = answers_[number].body;
    }
    co_return response;
  }

  std::vector<Answer> answers_;
  const Clock& clock_;
  http::Server server_;
  Random random_{1};
  lifecycle::Options options_;
  std::unique_ptr<ApiClient> client_;
  std::unique_ptr<ApiWriter> writer_;
};

// The outcome of an effect and the requests that were sent for it.
struct Told {
  lifecycle::Outcome outcome;
  Lines asked;
};

Told tell(lifecycle::Effect effect, std::vector<Answer> answers) {
  Told told;
  test::run([&effect, &answers, &told](asio::io_context& context) -> asio::awaitable<void> {
    Stage stage(context, answers);
    told.outcome = co_await stage.perform(effect);
    told.asked = stage.asked;
    co_await stage.stop();
  });
  return told;
}

TEST(ApiWriter, ARefusedEvictionIsToldFromAFailedOne) {
  // The answer of a kube-apiserver when a disruption budget forbids the eviction.
  const std::string budget =
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Cannot )"
      R"(evict pod as it would violate the pod's disruption budget.","reason":"TooManyRequests",)"
      R"("details":{"causes":[{"reason":"DisruptionBudget","message":"b needs 1"}]},"code":429})";
  const struct {
    Answer answer;
    std::optional<Errc> error;
  } rows[] = {{{201}, {}},
              {{429, budget}, Errc::exhausted},
              {{429}, Errc::unavailable},
              {{404}, Errc::not_found},
              {{409}, Errc::conflict},
              {{500}, Errc::unavailable}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.answer.status);
    const Told told = tell(lifecycle::EvictPod{pod}, {row.answer});
    EXPECT_EQ(told.outcome.error, row.error);
    EXPECT_EQ(told.asked, Lines{"POST /api/v1/namespaces/ns/pods/p/eviction"});
  }
}

const std::string bindable =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","uid":"uid-p",)"
    R"("resourceVersion":"7"},"spec":{"containers":[],"tolerations":[)"
    R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
    R"("tolerationSeconds":300}]}})";
const lifecycle::Autonomy for_ever{.bound = true, .wanted = true};
const std::string get_pod = "GET /api/v1/namespaces/ns/pods/p";
const std::string patch_pod = "PATCH /api/v1/namespaces/ns/pods/p";

TEST(ApiWriter, ABindingIsDecidedOnThePodAsItIs) {
  const Told conflict =
      tell(lifecycle::BindPod{pod, for_ever}, {{200, bindable}, {409}, {200, bindable}, {200}});
  EXPECT_TRUE(conflict.outcome.ok());
  EXPECT_EQ(conflict.asked, (Lines{get_pod, patch_pod, get_pod, patch_pod}));
  const Told done = tell(lifecycle::BindPod{pod, {}}, {{200, bindable}});
  EXPECT_TRUE(done.outcome.ok());
  EXPECT_EQ(done.asked, Lines{get_pod});
  const Told replaced =
      tell(lifecycle::BindPod{{"ns", "p", "another"}, for_ever}, {{200, bindable}});
  EXPECT_EQ(replaced.outcome.error, Errc::not_found);
  EXPECT_EQ(replaced.asked, Lines{get_pod});
}

std::string node_at(const std::string& version, const std::string& uid, const std::string& taints) {
  return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":")" + uid +
         R"(","resourceVersion":")" + version + R"("},"spec":{"taints":[)" + taints + "]}}";
}

lifecycle::PatchTaints adding(std::optional<lifecycle::TaintsSeen> seen) {
  lifecycle::PatchTaints patch;
  patch.node = "a";
  patch.uid = "uid-a";
  patch.add.resize(1);
  patch.add[0].key = "k";
  patch.add[0].effect = "NoSchedule";
  patch.seen = std::move(seen);
  return patch;
}

TEST(ApiWriter, TaintsAreReadOnlyWhenTheyMayHaveChanged) {
  const std::string path = "/api/v1/nodes/a";
  const std::string cached = "GET " + path + "?resourceVersion=0";
  const std::string write = "PATCH " + path;
  const std::string live = "GET " + path;
  const lifecycle::TaintsSeen seen{"5", {}};
  const std::string ours = R"({"key":"k","effect":"NoSchedule"})";
  const struct {
    const char* what;
    std::optional<lifecycle::TaintsSeen> seen;
    std::vector<Answer> answers;
    Lines asked;
    std::optional<Errc> error;
  } rows[] = {
      {"as seen", seen, {{200, node_at("6", "uid-a", ours)}}, {write}, {}},
      {"not seen",
       {},
       {{200, node_at("5", "uid-a", "")}, {200, node_at("6", "uid-a", ours)}},
       {cached, write},
       {}},
      {"changed since",
       seen,
       {{409}, {200, node_at("7", "uid-a", "")}, {200, node_at("8", "uid-a", ours)}},
       {write, live, write},
       {}},
      {"others wrote it", seen, {{409}, {200, node_at("7", "uid-a", ours)}}, {write, live}, {}},
      {"another node",
       seen,
       {{409}, {200, node_at("7", "uid-b", "")}},
       {write, live},
       Errc::not_found},
      {"no such node", seen, {{404}}, {write}, Errc::not_found}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Told told = tell(adding(row.seen), row.answers);
    EXPECT_EQ(told.outcome.error, row.error);
    EXPECT_EQ(told.asked, row.asked);
  }
}

const std::string out_of_service =
    R"({"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"})";

TEST(ApiWriter, DetachingTriesAllVolumesAndFailsIfOneDoes) {
  const std::string list = R"({"items":[{"metadata":{"name":"v1"},"spec":{"nodeName":"a"}},)"
                           R"({"metadata":{"name":"v2"},"spec":{"nodeName":"b"}},)"
                           R"({"metadata":{"name":"v3"},"spec":{"nodeName":"a"}}]})";
  const std::string path = "/apis/storage.k8s.io/v1/volumeattachments";
  const std::string node = "GET /api/v1/nodes/a";
  const Answer dead{200, node_at("5", "uid-a", out_of_service)};
  const Answer alive{200, node_at("6", "uid-a", "")};
  const lifecycle::DetachVolumes detach{{"a", "uid-a"}};
  const std::string v1 = "DELETE " + path + "/v1";
  const std::string v3 = "DELETE " + path + "/v3";
  const struct {
    const char* what;
    std::vector<Answer> answers;
    Lines asked;
    std::optional<Errc> error;
  } rows[] = {{"one is gone already",
               {dead, {200, list}, dead, {404}, dead, {200}},
               {node, "GET " + path, node, v1, node, v3},
               {}},
              {"one fails",
               {dead, {200, list}, dead, {500}, dead, {200}},
               {node, "GET " + path, node, v1, node, v3},
               Errc::unavailable},
              {"the node returns between two",
               {dead, {200, list}, dead, {200}, alive},
               {node, "GET " + path, node, v1, node},
               Errc::conflict},
              {"no storage API", {dead, {404}}, {node, "GET " + path}, {}},
              {"nonsense", {dead, {200, "nonsense"}}, {node, "GET " + path}, Errc::invalid}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Told told = tell(detach, row.answers);
    EXPECT_EQ(told.outcome.error, row.error);
    EXPECT_EQ(told.asked, row.asked);
  }
}

TEST(ApiWriter, WhatCannotBeUndoneReadsTheNodeFirst) {
  const lifecycle::DeadNode node{"a", "uid-a"};
  const std::string read = "GET /api/v1/nodes/a";
  const Answer tainted{200, node_at("5", "uid-a", out_of_service)};
  const Answer untainted{200, node_at("5", "uid-a", "")};
  const Answer replaced{200, node_at("5", "uid-b", out_of_service)};
  const struct {
    lifecycle::Effect effect;
    std::string write;
    bool needs_taint;
  } effects[] = {{lifecycle::FailPod{pod, node}, "PATCH /api/v1/namespaces/ns/pods/p/status", true},
                 {lifecycle::DeletePod{pod, node}, "DELETE /api/v1/namespaces/ns/pods/p", true},
                 {lifecycle::DeleteNode{"a", "uid-a"}, "DELETE /api/v1/nodes/a", false}};
  for (const auto& row : effects) {
    SCOPED_TRACE(row.write);
    EXPECT_EQ(tell(row.effect, {tainted, {200}}).asked, (Lines{read, row.write}));
    EXPECT_EQ(tell(row.effect, {untainted, {200}}).asked,
              row.needs_taint ? Lines{read} : (Lines{read, row.write}));
    const Told other = tell(row.effect, {replaced});
    EXPECT_EQ(other.outcome.error, Errc::conflict);
    ASSERT_TRUE(other.outcome.node);
    EXPECT_EQ(other.outcome.node->uid, "uid-b");
    EXPECT_EQ(other.asked, Lines{read});
    const std::pair<int, Errc> failures[] = {{404, Errc::not_found}, {500, Errc::unavailable}};
    for (const auto& [status, error] : failures) {
      const Told unread = tell(row.effect, {{status}});
      EXPECT_EQ(unread.outcome.error, error);
      EXPECT_EQ(unread.asked, Lines{read});
    }
  }
  EXPECT_EQ(tell(lifecycle::DeletePod{pod}, {{200}}).asked,
            Lines{"DELETE /api/v1/namespaces/ns/pods/p"});
}

// A failure of the provider must not look like a failure of the API server: the error is `invalid`.
TEST(ApiWriter, WithoutAProviderNothingIsKnown) {
  const Told told = tell(lifecycle::AskProvider{"a", "uid-a", "id"}, {});
  EXPECT_EQ(told.outcome.exists, std::nullopt);
  EXPECT_EQ(told.outcome.error, Errc::invalid);
  EXPECT_EQ(told.asked, Lines{});
}

}  // namespace
}  // namespace holdfast::agent
