#include "agent/lab/faults/fault_proxy.h"

#include <boost/asio/this_coro.hpp>
#include <set>
#include <vector>

#include "platform/log.h"
#include "platform/loop/timer.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

using ConnectionPtr = std::shared_ptr<net::Connection>;

constexpr auto connect_limit = std::chrono::seconds(5);

// Lists a connection for the time of its scope.
class Listed {
 public:
  Listed(std::set<ConnectionPtr>& all, ConnectionPtr connection)
      : all_(all), connection_(std::move(connection)) {
    all_.insert(connection_);
  }
  ~Listed() { all_.erase(connection_); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  std::set<ConnectionPtr>& all_;
  ConnectionPtr connection_;
};

}  // namespace

Result<Fault> Fault::parse(std::string_view text) {
  Fault fault;
  for (const std::string_view word : split(text, ',')) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const std::string_view value = equals == word.npos ? "" : word.substr(equals + 1);
    if (word == "pass") {
      fault.kind = Kind::pass;
    } else if (word == "refuse") {
      fault.kind = Kind::refuse;
    } else if (word == "black-hole") {
      fault.kind = Kind::black_hole;
    } else if (name == "delay") {
      TRY(fault.delay, parse_duration(value));
    } else if (name == "limit" && parse_int<std::int64_t>(value).value_or(0) > 0) {
      fault.bytes_per_second = *parse_int<std::int64_t>(value);
    } else {
      return fail(Errc::invalid, "unknown fault: \"" + std::string(word) + "\"");
    }
  }
  return fault;
}

std::string Fault::text() const {
  std::string text;
  switch (kind) {
    case Kind::pass:
      text = "pass";
      break;
    case Kind::refuse:
      text = "refuse";
      break;
    case Kind::black_hole:
      text = "black-hole";
      break;
  }
  if (delay > Duration::zero()) text += ",delay=" + format_duration(delay);
  if (bytes_per_second > 0) text += ",limit=" + std::to_string(bytes_per_second);
  return text;
}

struct FaultProxy::State : std::enable_shared_from_this<State> {
  State(asio::any_io_executor where, net::HostPort listen, net::HostPort to)
      : executor(where),
        clock(loop::clock_of(where)),
        at(std::move(listen)),
        target(std::move(to)),
        changed(where),
        tasks(std::move(where)) {}

  Status listen() {
    TRY(listener, net::Listener::open(executor, at, nullptr));
    at.port = listener->port();
    tasks.spawn("fault proxy", accept_all(listener));
    return {};
  }

  asio::awaitable<void> accept_all(std::shared_ptr<net::Listener> on) {
    const auto self = shared_from_this();
    for (;;) {
      auto pending = co_await on->accept();
      if (!pending) co_return;
      tasks.spawn("fault proxy connection", join(*std::move(pending)));
    }
  }

  asio::awaitable<void> join(std::unique_ptr<net::Pending> pending) {
    const auto self = shared_from_this();
    auto near = co_await pending->establish(clock.mono() + connect_limit);
    if (!near) co_return;
    while (fault.kind == Fault::Kind::black_hole) co_await changed.wait();
    if (fault.kind == Fault::Kind::refuse) co_return;
    auto far = co_await net::connect(target, nullptr, clock.mono() + connect_limit);
    if (!far || fault.kind == Fault::Kind::refuse) co_return;
    const ConnectionPtr left = *std::move(near);
    const ConnectionPtr right = *std::move(far);
    const Listed listed_left(connections, left);
    const Listed listed_right(connections, right);
    loop::Tasks back(executor);
    back.spawn("fault proxy answer", pump(right, left, self));
    co_await pump(left, right, self);
    co_await back.join();
  }

  // `self` keeps the state alive until a cancelled pump has ended.
  asio::awaitable<void> pump(ConnectionPtr from, ConnectionPtr to,
                             [[maybe_unused]] std::shared_ptr<State> self) {
    std::vector<char> buffer(16 * 1024);
    for (;;) {
      const auto count = co_await from->read_some(buffer);
      co_await hold_back(count.value_or(0));
      // A black hole also holds back the end of a connection.
      while (fault.kind == Fault::Kind::black_hole) co_await changed.wait();
      if (!count || *count == 0) break;
      const Status sent = co_await to->write(std::string_view(buffer.data(), *count));
      if (!sent) break;
    }
    from->close();
    to->close();
  }

  asio::awaitable<void> hold_back(std::size_t bytes) {
    Duration wait = fault.delay;
    if (fault.bytes_per_second > 0) {
      wait += Duration(static_cast<std::int64_t>(bytes) * 1'000'000'000 / fault.bytes_per_second);
    }
    if (wait > Duration::zero()) co_await loop::wait_for(wait);
  }

  void set(const Fault& wanted) {
    const bool refused = fault.kind == Fault::Kind::refuse;
    fault = wanted;
    if (wanted.kind == Fault::Kind::refuse) {
      listener->close();
      for (const ConnectionPtr& connection : connections) connection->close();
    } else if (refused) {
      if (auto listening = listen(); !listening) {
        log_error("fault proxy", {{"error", listening.error()}});
      }
    }
    changed.notify_all();
  }

  asio::any_io_executor executor;
  const Clock& clock;
  net::HostPort at;
  net::HostPort target;
  Fault fault;
  std::shared_ptr<net::Listener> listener;
  std::set<ConnectionPtr> connections;
  loop::Event changed;
  loop::Tasks tasks;
};

FaultProxy::FaultProxy(std::shared_ptr<State> state) : state_(std::move(state)) {}
FaultProxy::~FaultProxy() { state_->tasks.cancel(); }

Result<std::unique_ptr<FaultProxy>> FaultProxy::open(asio::any_io_executor executor,
                                                     const net::HostPort& listen,
                                                     net::HostPort target) {
  auto state = std::make_shared<State>(std::move(executor), listen, std::move(target));
  if (auto listening = state->listen(); !listening) return fail(listening.error());
  return std::unique_ptr<FaultProxy>(new FaultProxy(std::move(state)));
}

void FaultProxy::set(const Fault& fault) { state_->set(fault); }
const Fault& FaultProxy::fault() const { return state_->fault; }
std::uint16_t FaultProxy::port() const { return state_->at.port; }

asio::awaitable<void> FaultProxy::stop() {
  const auto state = state_;
  state->listener->close();
  state->tasks.cancel();
  co_await state->tasks.join();
}

}  // namespace holdfast::agent
