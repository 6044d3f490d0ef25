#include "platform/http/h2/sessions.h"

#include <algorithm>
#include <array>
#include <boost/asio/this_coro.hpp>
#include <span>
#include <utility>

#include "platform/net/network.h"

namespace holdfast::http::h2 {
namespace {

constexpr std::array<std::string_view, 2> protocols{"h2", "http/1.1"};

using SessionPtr = std::shared_ptr<Session>;

}  // namespace

// Marks that a connection is being opened, however that ends.
class Sessions::Connecting {
 public:
  explicit Connecting(Sessions& sessions) : sessions_(sessions) { sessions_.connecting_ = true; }
  ~Connecting() {
    sessions_.connecting_ = false;
    sessions_.notify();
  }
  Connecting(const Connecting&) = delete;
  Connecting& operator=(const Connecting&) = delete;

 private:
  Sessions& sessions_;
};

Sessions::Sessions(net::Route route, SessionSettings settings)
    : route_(std::move(route)), settings_(std::move(settings)) {
  settings_.authority = route_.to.text();
}

void Sessions::notify() {
  if (changed_) changed_->notify_all();
}

// A session with a free stream, or null. Sessions that will never have one are dropped; the streams
// that are still open on them keep them alive.
SessionPtr Sessions::ready() {
  std::erase_if(
      open_, [](const SessionPtr& session) { return session->state() == Session::State::ending; });
  const auto found = std::find_if(open_.begin(), open_.end(), [](const SessionPtr& session) {
    return session->state() == Session::State::ready;
  });
  return found == open_.end() ? nullptr : *found;
}

// Whether a connection that may have a free stream is being opened.
bool Sessions::connecting() const {
  return connecting_ || std::any_of(open_.begin(), open_.end(), [](const SessionPtr& session) {
           return session->state() == Session::State::settling;
         });
}

asio::awaitable<Result<Sessions::ChosenConnection>> Sessions::find(std::shared_ptr<Sessions> self,
                                                                   MonoTime deadline) {
  const auto executor = co_await asio::this_coro::executor;
  if (!self->changed_) self->changed_.emplace(executor);
  while (!self->speaks_http1_) {
    if (SessionPtr session = self->ready()) {
      ChosenConnection chosen{.session = std::move(session)};
      co_return chosen;
    }
    const bool connecting = self->connecting();
    if (!connecting && self->open_.size() < self->settings_.limits.connections) break;
    const std::uint64_t failures = self->failures_;
    const bool changed = co_await self->changed_->wait_until(deadline);
    // The caller that connected may have had an earlier deadline than ours, so its timeout does not
    // count; every other failure applies to us, too.
    const bool failed = connecting && self->failures_ != failures;
    if (failed && self->failure_->code != Errc::timeout) co_return fail(*self->failure_);
    if (changed) continue;
    if (connecting) co_return fail(net::late_error(executor, self->route_));
    co_return fail(Errc::exhausted, "no stream is free on any connection");
  }
  co_return co_await self->connect(deadline);
}

asio::awaitable<Result<Sessions::ChosenConnection>> Sessions::connect(MonoTime deadline) {
  const auto self = shared_from_this();
  const auto executor = co_await asio::this_coro::executor;
  const Connecting connecting(*self);
  const std::span offered = http1_wanted_ ? std::span(protocols).last(1) : std::span(protocols);
  auto made = co_await net::connect(route_, deadline, offered);
  if (!made) {
    ++failures_;
    failure_ = made.error();
    co_return fail(made.error());
  }
  ++settings_.traffic->connections;
  ChosenConnection chosen{.fresh = true};
  speaks_http1_ = (*made)->protocol() != protocols.front();
  if (speaks_http1_) {
    chosen.plain = *std::move(made);
    co_return chosen;
  }
  SessionSettings settings = settings_;
  settings.on_change = [weak = weak_from_this()] {
    if (const auto sessions = weak.lock()) sessions->notify();
  };
  settings.on_http1 = [weak = weak_from_this()] {
    const auto sessions = weak.lock();
    if (!sessions) return;
    sessions->http1_wanted_ = true;
    sessions->speaks_http1_ = true;
    sessions->notify();
  };
  chosen.session = std::make_shared<Session>(executor, *std::move(made), std::move(settings));
  open_.push_back(chosen.session);
  co_return chosen;
}

void Sessions::forget() {
  open_.clear();
  if (std::exchange(http1_wanted_, false)) speaks_http1_ = false;
  notify();
}

}  // namespace holdfast::http::h2
