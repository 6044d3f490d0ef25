#include "test/unit/agent/edge/replay/replay_fixture.h"

#include <gtest/gtest.h>

#include "sync/wire/protobuf/frames.h"
#include "test/support/answered.h"
#include "test/support/edge_options.h"
#include "test/support/kubeconfig.h"

namespace holdfast::agent::replay {
namespace {

asio::awaitable<void> read_watch(std::shared_ptr<OpenWatch> watch) {
  sync::wire::ProtobufFrames splitter;
  for (;;) {
    const auto piece = co_await watch->stream->next();
    if (!piece || piece->empty()) co_return;
    const auto frames = splitter.feed(*piece);
    for (const std::string& frame : frames.value()) {
      const sync::wire::WatchEvent event = sync::wire::decode_protobuf_event(frame).value();
      if (event.type == sync::wire::WatchEvent::Type::bookmark) {
        if (watch->bookmarks.empty()) watch->before_bookmark = watch->events.size();
        watch->bookmarks.push_back(event.resource_version);
      } else {
        watch->events.push_back(sync::wire::encode_protobuf_event(event.type, event.object));
      }
    }
  }
}

// Tasks must be cancelled in the loop's thread.
asio::awaitable<void> end(loop::Tasks& tasks) {
  tasks.cancel();
  co_await tasks.join();
}

}  // namespace

ReplayFixture::ReplayFixture(Session session)
    : recording(replay::recording(session)),
      upstream(time.executor(), recording),
      began_(time.clock().mono()) {
  upstream.listen();
  const std::string kubeconfig = test::write_kubeconfig(
      scratch_.path() / "kubeconfig", "http://127.0.0.1:" + std::to_string(upstream.port()));
  test::set_up(options_, "edge1", kubeconfig, scratch_.path() / "data");
  start_agent();
}

ReplayFixture::~ReplayFixture() {
  close_watches();
  stop_agent();
  time.complete(upstream.cut(time.clock().mono()));
  time.settle();
}

void ReplayFixture::start_agent() {
  edge_ = Edge::make(time.executor(), options_, time.clock()).value();
  EXPECT_TRUE(edge_->start());
  kubelet_ = std::make_unique<http::Client>(http::Endpoint{{"127.0.0.1", edge_->port()}});
  const auto connected = [this] {
    return edge_->uplink().link().state() == sync::autonomy::LinkState::connected;
  };
  EXPECT_TRUE(upstream.port() == 0 || time.run_until(1min, connected));
}

void ReplayFixture::stop_agent() {
  kubelet_.reset();
  time.complete(edge_->stop(time.clock().mono() + 5s));
  edge_.reset();
}

void ReplayFixture::restart_agent() {
  close_watches();
  stop_agent();
  edge_ = Edge::make(time.executor(), options_, time.clock()).value();
  EXPECT_TRUE(edge_->start());
  kubelet_ = std::make_unique<http::Client>(http::Endpoint{{"127.0.0.1", edge_->port()}});
}

void ReplayFixture::close_watches() {
  for (const auto& watch : watches) watch->stream->cancel();
  if (tasks_) time.complete(end(*tasks_));
  tasks_.reset();
}

void ReplayFixture::cut() {
  time.complete(upstream.cut(time.clock().mono()));
  const auto offline = [this] {
    return edge_->uplink().link().state() == sync::autonomy::LinkState::offline;
  };
  EXPECT_TRUE(time.run_until(1min, offline));
}

http::Response ReplayFixture::ask(const http::Request& request) {
  http::Response answer;
  time.complete(test::answer_into(*kubelet_, request, time.clock().mono() + 30s, answer));
  return answer;
}

void ReplayFixture::follow(const Exchange& exchange, const http::Response& response) {
  if (!response.stream) return;
  watches.push_back(std::make_shared<OpenWatch>(OpenWatch{&exchange, response.stream}));
  if (!tasks_) tasks_ = std::make_unique<loop::Tasks>(time.executor());
  tasks_->spawn("watch", read_watch(watches.back()));
}

void ReplayFixture::play(int last_line, const Check& check) {
  for (const Exchange& exchange : recording.exchanges) {
    if (exchange.line > last_line) return;
    if (exchange.start > 1) {
      for (const auto& watch : watches) watch->stream->cancel();
    }
    const MonoTime due = began_ + exchange.at;
    if (time.clock().mono() < due) time.run(due - time.clock().mono());
    upstream.advance(exchange);
    time.settle();
    const http::Response response = ask(exchange.request);
    check(exchange, response);
    if (exchange.is_watch) follow(exchange, response);
    time.settle();
  }
}

}  // namespace holdfast::agent::replay
