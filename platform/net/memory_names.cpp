#include "platform/net/memory_names.h"

#include <boost/asio/error.hpp>
#include <utility>

#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"

namespace holdfast::net {

MemoryNames::MemoryNames() { names_["localhost"] = {"127.0.0.1"}; }

void MemoryNames::set(const std::string& host, std::vector<std::string> addresses) {
  names_[host] = std::move(addresses);
}

void MemoryNames::set_server(const NameServer& server) {
  server_ = server;
  if (server.is_silent) return;
  for (Lookup& each : std::exchange(unanswered_, {})) answer_later(std::move(each));
}

void MemoryNames::look_up(const asio::any_io_executor& executor, const std::string& host,
                          Network::OnAddresses done) {
  ++lookups_;
  Lookup lookup{executor, host, std::move(done)};
  if (server_.is_silent) {
    unanswered_.push_back(std::move(lookup));
  } else {
    answer_later(std::move(lookup));
  }
}

void MemoryNames::answer_later(Lookup lookup) {
  loop::Tasks tasks(lookup.executor);
  const std::string name = "look up " + lookup.host;
  tasks.spawn(name, answer(std::move(lookup), server_.latency));
  tasks.detach();
}

asio::awaitable<void> MemoryNames::answer(Lookup lookup, Duration latency) {
  co_await loop::wait_for(latency);
  auto found = addresses_of(lookup.host);
  lookup.done(std::move(found));
}

Result<std::vector<std::string>> MemoryNames::addresses_of(const std::string& host) const {
  boost::system::error_code ec;
  const auto found = names_.find(host);
  if (found == names_.end() || found->second.empty()) ec = asio::error::host_not_found;
  if (server_.is_broken) ec = asio::error::host_not_found_try_again;
  if (ec) return fail(Errc::unavailable, ec.message(), ec);
  return found->second;
}

}  // namespace holdfast::net
