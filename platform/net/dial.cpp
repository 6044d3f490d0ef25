#include "platform/net/dial.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <string>
#include <utility>

#include "platform/loop/clock.h"
#include "platform/loop/tasks.h"

namespace holdfast::net {
namespace {

using DialedPtr = std::unique_ptr<Dialed>;

bool is_v6(const std::string& address) { return address.find(':') != std::string::npos; }

// What the attempts to reach one server share.
struct Race {
  explicit Race(const asio::any_io_executor& executor) : changed(executor) {}
  DialedPtr winner;
  Error error{};           // of the attempt `failed`
  std::size_t failed = 0;  // the last of the attempts that failed, in the order of their addresses
  std::size_t running = 0;
  loop::Event changed;
};

asio::awaitable<void> attempt(std::shared_ptr<Race> race, std::size_t number, Network& network,
                              HostPort to, std::string address, MonoTime deadline) {
  auto dialed = co_await network.dial(std::move(to), std::move(address), deadline);
  --race->running;
  if (!dialed && number >= race->failed) {
    race->failed = number;
    race->error = dialed.error();
  }
  if (dialed && !race->winner) race->winner = *std::move(dialed);
  race->changed.notify_all();
}

}  // namespace

Addresses interleaved(const Addresses& addresses) {
  Addresses first;
  Addresses second;
  for (const std::string& each : addresses) {
    (is_v6(each) == is_v6(addresses.front()) ? first : second).push_back(each);
  }
  Addresses all;
  for (std::size_t at = 0; at < std::max(first.size(), second.size()); ++at) {
    if (at < first.size()) all.push_back(first[at]);
    if (at < second.size()) all.push_back(second[at]);
  }
  return all;
}

asio::awaitable<Result<DialedPtr>> dial_first(Network& network, HostPort to, Addresses addresses,
                                              MonoTime deadline) {
  if (addresses.size() == 1) {
    co_return co_await network.dial(std::move(to), std::move(addresses.front()), deadline);
  }
  const auto executor = co_await asio::this_coro::executor;
  const Clock& clock = loop::clock_of(executor);
  const Addresses order = interleaved(addresses);
  const auto race = std::make_shared<Race>(executor);
  loop::Tasks attempts(executor);
  MonoTime next = clock.mono();
  for (std::size_t begun = 0; !race->winner;) {
    const bool more = begun < order.size() && (begun == 0 || clock.mono() < deadline);
    if (more && (race->running == 0 || next <= clock.mono())) {
      ++race->running;
      attempts.spawn("connect", attempt(race, begun, network, to, order[begun], deadline));
      ++begun;
      next = clock.mono() + attempt_delay;
      continue;
    }
    if (!more && race->running == 0) co_return fail(race->error);
    (void)co_await race->changed.wait_until(more ? next : MonoTime::max());
  }
  DialedPtr winner = std::move(race->winner);
  co_return winner;
}

}  // namespace holdfast::net
