// A scripted server, a sink that records its calls, and a list-watch between them.

#pragma once

#include <deque>
#include <string>
#include <vector>

#include "agent/client/list_watch.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "test/support/run.h"

namespace holdfast::agent::scripted {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

// Returns its pieces one by one; then it ends, fails, or does not return.
class Pieces final : public http::BodyStream {
 public:
  enum class End : std::uint8_t { ends, breaks, waits };

  Pieces(asio::any_io_executor executor, std::deque<std::string> pieces, End end)
      : pieces_(std::move(pieces)), end_(end), changed_(std::move(executor)) {}

  asio::awaitable<Result<std::string>> next() override {
    std::string piece;
    while (pieces_.empty() && end_ == End::waits && !cancelled_) co_await changed_.wait();
    if (cancelled_) co_return fail(Errc::cancelled, "cancelled");
    if (pieces_.empty() && end_ == End::breaks) co_return fail(Errc::unavailable, "broke");
    if (pieces_.empty()) co_return piece;
    piece = std::move(pieces_.front());
    pieces_.pop_front();
    co_return piece;
  }
  void cancel() override {
    cancelled_ = true;
    changed_.notify_all();
  }

 private:
  std::deque<std::string> pieces_;
  End end_;
  bool cancelled_ = false;
  loop::Event changed_;
};

struct Script final : ListWatchSource {
  explicit Script(asio::any_io_executor where) : executor(where), changed(where) {}

  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override {
    // The timeout of a watch is random, so it is left out of the record.
    const std::size_t random = request.target.find("&timeoutSeconds=");
    accepts.push_back(request.accept);
    asked.push_back((streamed ? "watch " : "list ") + request.target.substr(0, random));
    changed.notify_all();
    while (answers.empty()) co_await changed.wait();
    auto answer = std::move(answers.front());
    answers.pop_front();
    co_return answer;
  }

  void list(const std::string& version, const std::string& items, const std::string& more = "") {
    answers.push_back(http::Response{
        .body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
                R"(","continue":")" + more + R"("},"items":[)" + items + "]}"});
  }
  void watch(std::deque<std::string> pieces, Pieces::End end) {
    http::Response response;
    response.stream = std::make_shared<Pieces>(executor, std::move(pieces), end);
    answers.push_back(std::move(response));
  }
  asio::awaitable<bool> wait_until_asked(std::size_t count) {
    const MonoTime deadline = loop::clock_of(executor).mono() + 10s;
    while (asked.size() < count) {
      const bool notified = co_await changed.wait_until(deadline);
      if (!notified) co_return false;
    }
    co_return true;
  }

  asio::any_io_executor executor;
  std::deque<Result<http::Response>> answers;
  Lines asked;
  Lines accepts;
  loop::Event changed;
};

struct Notes final : ListWatchSink {
  void replace(std::vector<std::string> items, const std::string& version,
               const sync::wire::ScopeKind& kind) override {
    std::string line = "replace " + version + " " + kind.kind;
    for (const std::string& item : items) line += " " + item;
    lines.push_back(line);
  }
  void apply(const sync::wire::WatchEvent& event) override {
    lines.push_back(std::string(to_string(event.type)) + " " + event.object);
  }
  void bookmark(const std::string& version) override { lines.push_back("bookmark " + version); }
  Lines lines;
};

inline std::string pod(const std::string& version) {
  return R"({"metadata":{"name":"a","resourceVersion":")" + version + R"("}})";
}
inline std::string event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

// Runs a list-watch that ends after a given number of requests.
struct Bench {
  explicit Bench(asio::io_context& context)
      : clock(loop::clock_of(context.get_executor())),
        script(context.get_executor()),
        tasks(context.get_executor()) {}

  void start() { start(notes); }
  void start(ListWatchSink& sink) {
    ListWatchTarget target{.path = "/api/v1/pods",
                           .label_selector = "a=b",
                           .field_selector = "spec.nodeName=n",
                           .resume_from = resume_from,
                           .ask_protobuf = ask_protobuf,
                           .gather = gather};
    target.reflector.first_list_version = "";
    target.reflector.by_page = by_page;
    target.reflector.short_watch = 0s;
    target.reflector.backoff = {.initial = 1ms, .most = 2ms};
    tasks.spawn("list-watch", run_list_watch(target, script, sink, clock, random));
  }
  asio::awaitable<void> run_until_asked(std::size_t count) {
    start();
    const bool asked = co_await script.wait_until_asked(count);
    EXPECT_TRUE(asked);
    tasks.cancel();
    co_await tasks.join();
  }

  std::string resume_from;
  bool ask_protobuf = false;
  bool by_page = false;
  Duration gather{};
  const Clock& clock;
  Random random{1};
  Script script;
  Notes notes;
  loop::Tasks tasks;
};

inline const std::string selectors = "labelSelector=a%3Db&fieldSelector=spec.nodeName%3Dn";
inline const std::string list_target = "list /api/v1/pods?limit=500";
inline const std::string watch_target = "watch /api/v1/pods?watch=true&allowWatchBookmarks=true";

}  // namespace holdfast::agent::scripted
