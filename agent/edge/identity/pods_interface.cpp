#include "agent/edge/identity/pods_interface.h"

#include <algorithm>

#include "platform/check.h"
#include "platform/log.h"
#include "platform/loop/timer.h"

namespace holdfast::agent {
namespace {

constexpr std::uint16_t default_port = 10268;

std::optional<asio::ip::address> parse_address(const std::string& text) {
  boost::system::error_code ec;
  const auto address = asio::ip::make_address(text, ec);
  return ec ? std::nullopt : std::optional(address);
}

// The same conditions as in YurtHub: an IPv4 address must be link-local and not in a range that
// clouds and CNIs use.
bool is_fit(const asio::ip::address& address) {
  if (address.is_v6()) return !address.to_v6().is_unspecified() && !address.is_loopback();
  const auto bytes = address.to_v4().to_bytes();
  const bool local = bytes[0] == 169 && bytes[1] == 254;
  const bool taken = bytes[2] == 31 || (bytes[2] == 1 && bytes[3] == 1);
  return local && !taken;
}

bool is_interface_name(const std::string& name) {
  const auto is_plain = [](char c) { return c > ' ' && c < 0x7f && c != '/' && c != ':'; };
  return !name.empty() && name.size() <= net::interface_name_max && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), is_plain);
}

net::DummyInterface wanted_by(const IdentityOptions& options) {
  const auto address = parse_address(options.dummy_if_ip);
  CHECK(address);
  return {options.dummy_if_name, *address};
}

}  // namespace

std::optional<net::HostPort> pods_address(const IdentityOptions& options) {
  if (!options.enable_dummy_if || options.dummy_if_ip.empty()) return std::nullopt;
  const auto address = parse_address(options.dummy_if_ip);
  if (!address) return std::nullopt;
  const auto secure = net::HostPort::parse(options.secure_listen);
  return net::HostPort{address->to_string(), secure ? secure->port : default_port};
}

bool listens_at(const net::HostPort& listener, const net::HostPort& at) {
  const bool v6 = at.host.find(':') != std::string::npos;
  const bool everywhere = listener.host == "::" || (listener.host == "0.0.0.0" && !v6);
  return listener == at || (everywhere && listener.port == at.port);
}

Status check_pods_interface(const IdentityOptions& options) {
  if (!options.enable_dummy_if || options.dummy_if_ip.empty()) return {};
  const auto address = parse_address(options.dummy_if_ip);
  if (!address || !is_fit(*address)) {
    return fail(Errc::invalid, "--dummy-if-ip: \"" + options.dummy_if_ip +
                                   "\" is neither an IPv6 address nor one of 169.254.0.0/16 "
                                   "without 169.254.31.0/24 and 169.254.1.1");
  }
  if (!is_interface_name(options.dummy_if_name)) {
    return fail(Errc::invalid,
                "--dummy-if-name: \"" + options.dummy_if_name +
                    "\" is no valid interface name: 1 to 15 characters without spaces, / and :");
  }
  const auto secure = net::HostPort::parse(options.secure_listen);
  const auto pods = pods_address(options);
  const bool everywhere = secure && *secure != *pods && listens_at(*secure, *pods);
  if (everywhere && options.require_client_certificates) {
    return fail(
        Errc::invalid,
        "--dummy-if-ip: pods have no client certificates: --secure-listen on all addresses needs "
        "--require-client-certificates=false");
  }
  return {};
}

PodsInterface::PodsInterface(const IdentityOptions& options,
                             std::unique_ptr<net::Interfaces> interfaces, const Clock& clock)
    : wanted_(wanted_by(options)), interfaces_(std::move(interfaces)), clock_(clock) {}

bool PodsInterface::ensure() {
  const auto done = net::ensure(*interfaces_, wanted_);
  good_ = done.has_value();
  if (!done) {
    const std::string& why = done.error().what;
    // The same failure is logged only once.
    if (why != failure_) {
      log_error("interface for pods not created, serving without it",
                {{"interface", wanted_.name}, {"error", done.error()}});
    }
    failure_ = why;
    return false;
  }
  failure_.clear();
  if (*done == net::DummyChange::none) return true;
  log_info("interface for pods", {{"interface", wanted_.name},
                                  {"address", wanted_.address.to_string()},
                                  {"made", *done == net::DummyChange::made}});
  return true;
}

asio::awaitable<void> PodsInterface::keep(std::function<void()> on_change) {
  constexpr auto interval = std::chrono::seconds(60);  // YurtHub's SyncNetworkPeriod
  for (;;) {
    const MonoTime due = clock_.mono() + interval;
    co_await loop::sleep_until(due);
    if (clock_.mono() < due) continue;  // Cancelled: the next await ends this coroutine.
    const bool was_good = good_;
    if (ensure() && !was_good) on_change();
  }
}

void PodsInterface::remove() {
  const Status removed = net::remove(*interfaces_, wanted_);
  if (!removed) log_warn("interface for pods not removed", {{"error", removed.error()}});
}

}  // namespace holdfast::agent
