// The list-watch loop around the reflector, with a scripted server.

#include "agent/client/list_watch.h"

#include "platform/query.h"
#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"
#include "sync/wire/protobuf/status.h"
#include "test/support/run.h"
#include "test/unit/agent/client/list_watch_bench.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
using namespace scripted;

TEST(ListWatch, ListsInPagesAndWatchesFromTheList) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Bench bench(context);
    bench.script.list("7", pod("3"), "more");
    bench.script.list("7", pod("5"));
    const std::string all = event("ADDED", pod("8")) + event("MODIFIED", pod("9")) +
                            event("BOOKMARK", pod("12")) + event("DELETED", pod("13"));
    // The cuts ignore frame borders: frames are not pieces.
    std::deque<std::string> pieces;
    for (std::size_t at = 0; at < all.size(); at += 50) pieces.push_back(all.substr(at, 50));
    bench.script.watch(pieces, Pieces::End::ends);
    co_await bench.run_until_asked(4);
    EXPECT_EQ(bench.script.asked[0].substr(0, list_target.size()), list_target);
    EXPECT_NE(bench.script.asked[0].find(selectors), std::string::npos) << bench.script.asked[0];
    EXPECT_NE(bench.script.asked[1].find("continue=more"), std::string::npos);
    EXPECT_NE(bench.script.asked[2].find("resourceVersion=7"), std::string::npos);
    EXPECT_EQ(bench.script.asked[2].substr(0, watch_target.size()), watch_target);
    EXPECT_NE(bench.script.asked[3].find("resourceVersion=13"), std::string::npos)
        << "after a normal end the watch continues from its version";
    EXPECT_EQ(bench.notes.lines,
              (Lines{"replace 7 Pod " + pod("3") + " " + pod("5"), "ADDED " + pod("8"),
                     "MODIFIED " + pod("9"), "bookmark 12", "DELETED " + pod("13")}));
  });
}

// A sink that refuses objects for which it has no room.
struct Narrow final : ListWatchSink {
  void replace(std::vector<std::string>, const std::string&,
               const sync::wire::ScopeKind&) override {}
  void apply(const sync::wire::WatchEvent&) override {}
  void bookmark(const std::string& version) override { lines.push_back("bookmark " + version); }
  Status try_replace(std::vector<std::string> items, const std::string& version,
                     const sync::wire::ScopeKind&) override {
    if (items.size() > 1) return fail(Errc::exhausted, "full");
    lines.push_back("replace " + version);
    return {};
  }
  Status try_apply(const sync::wire::WatchEvent& event) override {
    if (event.resource_version == "9") return fail(Errc::exhausted, "full");
    lines.push_back("apply " + event.resource_version);
    return {};
  }
  void list_failed(const sync::watch::Failure& failure) override {
    lines.push_back("failed " + std::string(to_string(failure.code)));
  }
  Lines lines;
};

TEST(ListWatch, WhatASinkHasNoRoomForIsListedAgainAndNothingAfterItIsTold) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Bench bench(context);
    Narrow narrow;
    bench.script.list("7", pod("3") + "," + pod("5"));
    bench.script.list("8", pod("3"));
    bench.script.watch({event("MODIFIED", pod("8")) + event("MODIFIED", pod("9")) +
                        event("MODIFIED", pod("10")) + event("BOOKMARK", pod("11"))},
                       Pieces::End::ends);
    bench.script.list("12", pod("3"));
    bench.start(narrow);
    const bool asked = co_await bench.script.wait_until_asked(5);
    EXPECT_TRUE(asked);
    bench.tasks.cancel();
    co_await bench.tasks.join();
    EXPECT_EQ(narrow.lines, (Lines{"failed exhausted", "replace 8", "apply 8", "failed exhausted",
                                   "replace 12"}));
    EXPECT_TRUE(bench.script.asked[1].starts_with("list "))
        << "no watch follows a list that was refused";
  });
}

// A sink that accepts pages and expects no object twice.
struct Pages final : ListWatchSink {
  void replace(std::vector<std::string>, const std::string&,
               const sync::wire::ScopeKind&) override {}
  void apply(const sync::wire::WatchEvent&) override {}
  void bookmark(const std::string&) override {}
  Status try_page(std::vector<std::string> items, bool first,
                  const sync::wire::ScopeKind&) override {
    if (items.size() > 1) return fail(Errc::exhausted, "full");
    lines.push_back((first ? "first " : "next ") + std::to_string(items.size()));
    return {};
  }
  Status try_end_list(const std::string& version) override {
    lines.push_back("end " + version);
    return {};
  }
  void list_failed(const sync::watch::Failure& failure) override {
    lines.push_back("failed " + std::string(to_string(failure.code)));
  }
  Status try_reserve(std::size_t bytes) override {
    held_most = std::max(held_most, bytes);
    held = bytes;
    return {};
  }
  Lines lines;
  std::size_t held = 0;
  std::size_t held_most = 0;
};

TEST(ListWatch, PageByPageOnlyOnePageIsHeld) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Bench bench(context);
    bench.by_page = true;
    Pages pages;
    const std::string two = pod("3") + "," + pod("5");
    bench.script.list("7", pod("3"), "more");
    bench.script.list("7", two, "more");  // There is no room for it in the middle,
    bench.script.list("7", two);          // nor at the end.
    for (int i = 0; i < 10; ++i) bench.script.list("8", pod("3"), i < 9 ? "more" : "");
    bench.start(pages);
    const bool asked = co_await bench.script.wait_until_asked(14);
    EXPECT_TRUE(asked);
    bench.tasks.cancel();
    co_await bench.tasks.join();
    Lines expected{"first 1", "failed exhausted", "failed exhausted", "first 1"};
    expected.insert(expected.end(), 9, "next 1");
    expected.emplace_back("end 8");
    EXPECT_EQ(pages.lines, expected);
    EXPECT_TRUE(bench.script.asked[13].starts_with("watch "));
    EXPECT_EQ(pages.held, 0u);
    EXPECT_LE(pages.held_most, 350u) << "only one page at a time is in memory";
  });
}

// Many small objects need more memory than their bytes.
TEST(ListWatch, CountsWhatItsItemsNeedBesidesTheirBytes) {
  for (const bool by_page : {true, false}) {
    test::run([by_page](asio::io_context& context) -> asio::awaitable<void> {
      Bench bench(context);
      bench.by_page = by_page;
      Pages pages;
      std::string small = "{}";
      for (int i = 1; i < 500; ++i) small += ",{}";
      bench.script.list("7", small, "more");
      bench.script.list("7", small);
      bench.start(pages);
      const bool asked = co_await bench.script.wait_until_asked(by_page ? 1 : 3);
      EXPECT_TRUE(asked);
      bench.tasks.cancel();
      co_await bench.tasks.join();
      const std::size_t items = by_page ? 500 : 1000;
      EXPECT_GE(pages.held_most, items * 64) << by_page;
      EXPECT_LE(pages.held_most, items * 80) << by_page;
    });
  }
}

TEST(ListWatch, AListThatWasNeverCompleteIsNeverTold) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Bench bench(context);
    auto& answers = bench.script.answers;
    answers.push_back(fail(Errc::unavailable, "refused"));
    answers.push_back(http::Response{.status = 500, .body = "no"});
    answers.push_back(http::Response{.status = 200, .body = R"({"kind":"PodList","metadata":{}})"});
    answers.push_back(http::Response{.status = 200, .body = R"({"kind":"PodList","items":[)"});
    bench.script.list("7", pod("3"), "more");
    answers.push_back(fail(Errc::timeout, "late"));
    co_await bench.run_until_asked(7);
    EXPECT_EQ(bench.notes.lines, Lines{});
    for (const std::string& asked : bench.script.asked) EXPECT_TRUE(asked.starts_with("list "));
  });
}

TEST(ListWatch, AWatchThatBreaksGoesOnAndOneThatIsGoneListsAgain) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Bench bench(context);
    bench.script.list("7", "");
    bench.script.watch({event("ADDED", pod("8"))}, Pieces::End::breaks);
    bench.script.watch({event("ERROR", R"({"kind":"Status","status":"Failure","code":410,)"
                                       R"("reason":"Expired","message":"old"})"),
                        event("ADDED", pod("99"))},
                       Pieces::End::waits);
    bench.script.list("20", "");
    bench.script.watch({"nonsense\n"}, Pieces::End::waits);
    co_await bench.run_until_asked(6);
    const auto& asked = bench.script.asked;
    EXPECT_NE(asked[2].find("watch=true"), std::string::npos);
    EXPECT_NE(asked[2].find("resourceVersion=8"), std::string::npos) << asked[2];
    EXPECT_TRUE(asked[3].starts_with("list ")) << asked[3];
    EXPECT_NE(asked[4].find("resourceVersion=20"), std::string::npos) << asked[4];
    EXPECT_TRUE(asked[5].starts_with("list ")) << "after an unreadable event the state is unknown";
    EXPECT_EQ(bench.notes.lines, (Lines{"replace 7 Pod", "ADDED " + pod("8"), "replace 20 Pod"}));
  });
}

// An API server after a restart, before etcd's compaction: its watches begin at its newest version,
// and it still has older states for lists that want exactly one.
struct RestartedServer final : ListWatchSource {
  static constexpr int newest = 20;

  explicit RestartedServer(asio::any_io_executor where) : executor(where), changed(where) {}

  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override {
    asked.push_back(request.target);
    changed.notify_all();
    const Query query = Query::parse(request.target.substr(request.target.find('?') + 1)).value();
    const std::string version(query.get("resourceVersion"));
    const int number = version.empty() ? newest : std::stoi(version);
    http::Response response;
    if (streamed) {
      std::deque<std::string> pieces;
      if (number < newest) {
        pieces.push_back(event("ERROR", R"({"kind":"Status","status":"Failure","code":410,)"
                                        R"("reason":"Expired","message":"too old"})"));
      }
      response.stream = std::make_shared<Pieces>(executor, std::move(pieces), Pieces::End::waits);
      co_return response;
    }
    const std::string_view match = query.get("resourceVersionMatch");
    const bool is_exact = match == "Exact" || (match.empty() && query.has("limit") && number > 0);
    const std::string at = std::to_string(is_exact ? number : newest);
    response.body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" + at +
                    R"("},"items":[)" + pod(at) + "]}";
    co_return response;
  }

  asio::any_io_executor executor;
  loop::Event changed;
  Lines asked;
};

asio::awaitable<void> resume_after_restart(ListWatchSink& sink, bool by_page) {
  const auto executor = co_await asio::this_coro::executor;
  const Clock& clock = loop::clock_of(executor);
  RestartedServer server(executor);
  Random random{1};
  loop::Tasks tasks(executor);
  ListWatchTarget target{.path = "/api/v1/pods", .resume_from = "10"};
  target.reflector.by_page = by_page;
  target.reflector.short_watch = 0s;
  target.reflector.backoff = {.initial = 1ms, .most = 2ms};
  tasks.spawn("list-watch", run_list_watch(target, server, sink, clock, random));
  while (server.asked.size() < 3) co_await server.changed.wait();
  co_await loop::wait_for(1s);
  tasks.cancel();
  co_await tasks.join();
  EXPECT_EQ(server.asked.size(), 3u) << "a watch that is refused, a list, a watch";
}

TEST(ListWatch, AfterARestartOfTheServerItSeesTheNewestState) {
  test::run([](asio::io_context&) -> asio::awaitable<void> {
    Notes notes;
    co_await resume_after_restart(notes, false);
    EXPECT_EQ(notes.lines, Lines{"replace 20 Pod " + pod("20")});
    Pages pages;
    co_await resume_after_restart(pages, true);
    EXPECT_EQ(pages.lines, (Lines{"first 1", "end 20"}));
  });
}

TEST(ListWatch, ResumesWithoutAList) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Bench bench(context);
    bench.resume_from = "41";
    bench.script.watch({event("MODIFIED", pod("42"))}, Pieces::End::waits);
    bench.start();
    for (int i = 0; i < 1000 && bench.notes.lines.empty(); ++i) {
      co_await loop::wait_for(1ms);
    }
    EXPECT_NE(bench.script.asked[0].find("resourceVersion=41"), std::string::npos);
    EXPECT_EQ(bench.script.asked.size(), 1u);
    EXPECT_EQ(bench.notes.lines, Lines{"MODIFIED " + pod("42")});
    bench.tasks.cancel();
    co_await bench.tasks.join();
  });
}

// A Pod without envelope: metadata.name is field 1 of field 1, and its resourceVersion is field 6.
std::string protobuf_pod(const std::string& version) {
  std::string metadata;
  sync::wire::append_wire(metadata, 1, "a");
  sync::wire::append_wire(metadata, 6, version);
  std::string out;
  sync::wire::append_wire(out, 1, metadata);
  return out;
}

http::Response in_protobuf(http::Response response, const std::string& more = "") {
  response.headers.set("Content-Type", std::string(sync::wire::protobuf_type) + more);
  return response;
}

// A PodList with one pod; `more` is the continue token.
http::Response protobuf_list(const std::string& version, const std::string& more) {
  std::string metadata;
  sync::wire::append_wire(metadata, 2, version);
  sync::wire::append_wire(metadata, 3, more);
  std::string list;
  sync::wire::append_wire(list, 1, metadata);
  sync::wire::append_wire(list, 2, protobuf_pod(version));
  return in_protobuf({.body = sync::wire::enveloped("v1", "PodList", list)});
}

TEST(ListWatch, TheAnswersContentTypeDecides) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Bench bench(context);
    bench.ask_protobuf = true;
    auto& answers = bench.script.answers;
    answers.push_back(protobuf_list("5", "more"));
    answers.push_back(protobuf_list("7", ""));
    const std::string object = sync::wire::enveloped("v1", "Pod", protobuf_pod("8"));
    const std::string frames =
        sync::wire::encode_protobuf_event(sync::wire::WatchEvent::Type::added, object) +
        sync::wire::encode_protobuf_event(sync::wire::WatchEvent::Type::bookmark, object);
    bench.script.watch({frames.substr(0, 3), frames.substr(3, 40), frames.substr(43)},
                       Pieces::End::ends);
    answers.back() = in_protobuf(*std::move(answers.back()), ";stream=watch");
    bench.script.watch({event("MODIFIED", pod("9"))}, Pieces::End::ends);
    co_await bench.run_until_asked(5);
    const std::string five = sync::wire::enveloped("v1", "Pod", protobuf_pod("5"));
    const std::string seven = sync::wire::enveloped("v1", "Pod", protobuf_pod("7"));
    EXPECT_EQ(bench.notes.lines, (Lines{"replace 5 Pod " + five + " " + seven, "ADDED " + object,
                                        "bookmark 8", "MODIFIED " + pod("9")}));
    const std::string list = "application/vnd.kubernetes.protobuf,application/json";
    const std::string watch =
        "application/vnd.kubernetes.protobuf;stream=watch,application/json;stream=watch";
    EXPECT_EQ(bench.script.accepts, (Lines{list, list, watch, watch, watch}));
  });
}

TEST(ListWatch, ANoInProtobufIsUnderstood) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Bench bench(context);
    bench.ask_protobuf = true;
    bench.resume_from = "41";
    auto& answers = bench.script.answers;
    const std::string gone =
        sync::wire::encode_protobuf_status({.message = "old", .reason = "Expired", .code = 410});
    answers.push_back(in_protobuf({.status = 410, .body = gone}));
    answers.push_back(protobuf_list("50", ""));
    bench.script.watch(
        {sync::wire::encode_protobuf_event(sync::wire::WatchEvent::Type::error, gone)},
        Pieces::End::waits);
    answers.back() = in_protobuf(*std::move(answers.back()), ";stream=watch");
    answers.push_back(in_protobuf({.body = gone}));
    answers.push_back(protobuf_list("60", ""));
    co_await bench.run_until_asked(6);
    const auto& asked = bench.script.asked;
    EXPECT_TRUE(asked[1].starts_with("list ")) << "after a refused watch";
    EXPECT_NE(asked[2].find("resourceVersion=50"), std::string::npos) << asked[2];
    EXPECT_TRUE(asked[3].starts_with("list ")) << "after an error event";
    EXPECT_TRUE(asked[4].starts_with("list ")) << "a Status is not an empty list";
    EXPECT_NE(asked[5].find("resourceVersion=60"), std::string::npos) << asked[5];
    EXPECT_EQ(bench.notes.lines.size(), 2u);
  });
}

// Small pieces are collected, so that several are handled at once; none is lost or reordered.
TEST(ListWatch, GathersSmallPieces) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Bench bench(context);
    bench.gather = 20ms;
    bench.resume_from = "1";
    bench.script.watch({event("MODIFIED", pod("2")), event("MODIFIED", pod("3"))},
                       Pieces::End::ends);
    const MonoTime begin = bench.clock.mono();
    co_await bench.run_until_asked(2);
    EXPECT_GE(bench.clock.mono() - begin, 40ms);
    EXPECT_EQ(bench.notes.lines, (Lines{"MODIFIED " + pod("2"), "MODIFIED " + pod("3")}));
  });
}

}  // namespace
}  // namespace holdfast::agent
