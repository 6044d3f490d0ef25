#include "platform/net/names.h"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "platform/loop/clock.h"
#include "platform/net/network.h"

namespace holdfast::net {
namespace {

// The Names of a loop as an Asio service.
class LoopNames final : public asio::execution_context::service {
 public:
  using key_type = LoopNames;
  static asio::execution_context::id id;  // Asio finds the service by its address.

  explicit LoopNames(asio::execution_context& loop) : service(loop) {}

  Names names;

 private:
  void shutdown() override { names.clear(); }
};

asio::execution_context::id LoopNames::id;

bool says_unknown(const Error& error) {
  const std::error_code unknown = boost::system::error_code(asio::error::host_not_found);
  return error.cause == unknown;
}

}  // namespace

Names& names_of(const asio::any_io_executor& executor) {
  auto& loop = asio::query(executor, asio::execution::context);
  return asio::use_service<LoopNames>(loop).names;
}

bool Names::is_waiting_for(const std::string& host) const {
  const auto found = names_.find(host);
  return found != names_.end() && found->second->looking_up && found->second->addresses.empty();
}

Names::NamePtr Names::name_of(const asio::any_io_executor& executor, const std::string& host) {
  NamePtr& name = names_[host];
  if (!name) name = std::make_shared<Name>(executor);
  return name;
}

// Forgets the name whose lookup ended first, if there are too many.
void Names::make_room() {
  if (names_.size() <= limits_.names) return;
  auto oldest = names_.end();
  for (auto each = names_.begin(); each != names_.end(); ++each) {
    if (each->second->looking_up) continue;
    if (oldest == names_.end() || each->second->ended < oldest->second->ended) oldest = each;
  }
  if (oldest != names_.end()) names_.erase(oldest);
}

Status Names::look_up(const asio::any_io_executor& executor, const std::string& host,
                      const NamePtr& name) {
  const auto running = std::count_if(names_.begin(), names_.end(),
                                     [](const auto& each) { return each.second->looking_up; });
  if (static_cast<std::size_t>(running) >= limits_.lookups) {
    return fail(Errc::exhausted, "resolve " + host + ": too many lookups at the same time");
  }
  const Clock& clock = loop::clock_of(executor);
  name->looking_up = true;
  name->began = clock.mono();
  const auto done = [this, &clock, name, host](Result<Addresses> found) {
    name->looking_up = false;
    name->ended = clock.mono();
    ++name->lookups;
    name->failed = !found;
    if (found) {
      name->addresses = *std::move(found);
      if (name->addresses.size() > limits_.addresses) name->addresses.resize(limits_.addresses);
    } else {
      name->error = std::move(found.error());
      name->error.what = "resolve " + host + ": " + name->error.what;
      if (says_unknown(name->error)) name->addresses.clear();
    }
    name->changed.notify_all();
    make_room();
  };
  network_of(executor).look_up(executor, host, done);
  return {};
}

asio::awaitable<Result<Addresses>> Names::find(std::string host, MonoTime deadline) {
  const auto executor = co_await asio::this_coro::executor;
  const Clock& clock = loop::clock_of(executor);
  const NamePtr name = name_of(executor, host);
  const bool known = !name->addresses.empty();
  if (known && !name->failed && clock.mono() < name->ended + limits_.fresh) {
    co_return name->addresses;
  }
  if (!name->looking_up) {
    const Status begun = look_up(executor, host, name);
    if (!begun && known) co_return name->addresses;
    if (!begun) co_return fail(begun.error());
  }
  const std::size_t lookups = name->lookups;
  const MonoTime end = known ? std::min(deadline, name->began + limits_.patience) : deadline;
  bool in_time = true;
  while (in_time && name->lookups == lookups) in_time = co_await name->changed.wait_until(end);
  if (!name->addresses.empty()) co_return name->addresses;
  if (name->lookups == lookups) {
    co_return fail(Errc::timeout, "resolve " + host + ": deadline passed");
  }
  co_return fail(name->error);
}

}  // namespace holdfast::net
