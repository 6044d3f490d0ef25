// The rule of platform/loop/cancellation.h: a cancelled task leaves by an exception at the await
// where it waits, and sees no result; Errc::cancelled means that an object was closed.

#include "platform/loop/cancellation.h"

#include <boost/asio/this_coro.hpp>

#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/net/transport.h"
#include "test/support/run.h"

namespace holdfast::loop {
namespace {

using Notes = std::vector<std::string>;
using ConnectionPtr = std::shared_ptr<net::Connection>;

// Notes how a scope was left: with or without an exception.
class Exit {
 public:
  Exit(std::string name, Notes& notes) : name_(std::move(name)), notes_(notes) {}
  ~Exit() { notes_.push_back(name_ + (std::uncaught_exceptions() > 0 ? " thrown" : " returned")); }
  Exit(const Exit&) = delete;
  Exit& operator=(const Exit&) = delete;

 private:
  std::string name_;
  Notes& notes_;
};

asio::awaitable<void> wait(Event& event, Notes& notes) {
  const Exit exit("wait", notes);
  const bool notified = co_await event.wait_until(MonoTime::max());
  notes.emplace_back(notified ? "notified" : "late");
}

asio::awaitable<void> sleep(Notes& notes) {
  const Exit exit("sleep", notes);
  co_await sleep_until(MonoTime::max());
  notes.emplace_back("awake");
}

asio::awaitable<void> read(ConnectionPtr connection, Notes& notes) {
  const Exit exit("read", notes);
  std::array<char, 1> byte{};
  const auto count = co_await connection->read_some(byte);
  notes.emplace_back(count ? "bytes" : to_string(count.error().code));
}

asio::awaitable<void> accept(std::shared_ptr<net::Listener> listener, Notes& notes) {
  const Exit exit("accept", notes);
  const auto pending = co_await listener->accept();
  notes.emplace_back(pending ? "accepted" : to_string(pending.error().code));
}

// Lets all ready handlers run.
asio::awaitable<void> turns() {
  for (int i = 0; i < 5; ++i) co_await sleep_until(MonoTime());
}

std::shared_ptr<net::Listener> listener_on(const asio::any_io_executor& executor) {
  return *net::Listener::open(executor, {"127.0.0.1", 0}, nullptr);
}

// A connection whose peer, which it keeps, sends nothing.
struct SilentPair {
  ConnectionPtr near;
  ConnectionPtr far;
};

asio::awaitable<SilentPair> connect_to(std::shared_ptr<net::Listener> listener) {
  net::HostPort at{"127.0.0.1", listener->port()};
  auto near = co_await net::connect(std::move(at), nullptr, MonoTime::max());
  auto pending = co_await listener->accept();
  auto far = co_await (*pending)->establish(MonoTime::max());
  SilentPair pair{*std::move(near), *std::move(far)};
  co_return pair;
}

TEST(Cancellation, ATaskLeavesByExceptionWhereItWaitsAndSeesNoResult) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const auto listener = listener_on(context.get_executor());
    const SilentPair pair = co_await connect_to(listener);
    Event event(context.get_executor());
    Notes notes;
    Tasks tasks(context.get_executor());
    tasks.spawn("wait", wait(event, notes));
    tasks.spawn("sleep", sleep(notes));
    tasks.spawn("read", read(pair.near, notes));
    tasks.spawn("accept", accept(listener, notes));
    co_await turns();
    EXPECT_EQ(notes, Notes{});
    tasks.cancel();
    co_await tasks.join();
    std::sort(notes.begin(), notes.end());
    EXPECT_EQ(notes, (Notes{"accept thrown", "read thrown", "sleep thrown", "wait thrown"}));
  });
}

TEST(Cancellation, AClosedObjectIsAResultAndTheTaskGoesOn) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const auto listener = listener_on(context.get_executor());
    const SilentPair pair = co_await connect_to(listener);
    Notes notes;
    Tasks tasks(context.get_executor());
    tasks.spawn("read", read(pair.near, notes));
    tasks.spawn("accept", accept(listener, notes));
    co_await turns();
    pair.near->close();
    co_await turns();
    listener->close();
    co_await tasks.join();
    EXPECT_EQ(notes, (Notes{"cancelled", "read returned", "cancelled", "accept returned"}));
  });
}

asio::awaitable<void> own(std::shared_ptr<int> owned) {
  *owned = 1;
  co_return;
}

TEST(Cancellation, ATaskThatIsSpawnedTooLateReleasesItsParameters) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const auto owned = std::make_shared<int>(0);
    Tasks tasks(context.get_executor());
    tasks.cancel();
    tasks.spawn("spawned too late", own(owned));
    co_await tasks.join();
    EXPECT_EQ(*owned, 0);
    EXPECT_EQ(owned.use_count(), 1);
  });
}

asio::awaitable<void> return_in_spite(Event& event, Notes& notes) {
  const asio::disable_cancellation never;
  co_await asio::this_coro::reset_cancellation_state(never);
  co_await wait(event, notes);
}

TEST(Cancellation, ATaskThatDisabledItGoesOn) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Event event(context.get_executor());
    Notes notes;
    Tasks tasks(context.get_executor());
    tasks.spawn("wait", return_in_spite(event, notes));
    co_await turns();
    tasks.cancel();
    co_await turns();
    EXPECT_EQ(notes, Notes{});
    event.notify_all();
    co_await tasks.join();
    EXPECT_EQ(notes, (Notes{"notified", "wait returned"}));
  });
}

}  // namespace
}  // namespace holdfast::loop
