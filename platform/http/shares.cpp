#include "platform/http/shares.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <map>
#include <utility>

#include "platform/check.h"

namespace holdfast::http {
namespace {

namespace ip = boost::asio::ip;

struct Use {
  std::size_t connections = 0;
  std::size_t bytes = 0;
};

// "2001:db8:0:1::/64" of "2001:db8:0:1:2:3:4:5"
std::string network_of(const ip::address_v6& address) {
  constexpr std::size_t network_bytes = 8;
  auto bytes = address.to_bytes();
  std::fill(bytes.begin() + network_bytes, bytes.end(), std::uint8_t{0});
  return ip::address_v6(bytes).to_string() + "/64";
}

}  // namespace

std::string caller_name(const net::Peer& peer) {
  if (peer.owner) return "uid " + std::to_string(peer.owner->uid);
  boost::system::error_code ec;
  const auto address = ip::make_address(peer.address, ec);
  if (ec || !address.is_v6() || address.is_loopback()) return peer.address;
  const ip::address_v6 six = address.to_v6();
  if (six.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, six).to_string();
  return network_of(six);
}

struct Shares::State {
  ShareLimits limits;
  Use all;
  Use untrusted;                     // of all untrusted callers together
  std::map<std::string, Use> users;  // of each untrusted caller
};

Shares::Shares(const ShareLimits& limits) : state_(std::make_unique<State>()) {
  state_->limits = limits;
}
Shares::~Shares() = default;

std::shared_ptr<Shares> Shares::make(const ShareLimits& limits) {
  CHECK(limits.connections >= 8);
  return std::shared_ptr<Shares>(new Shares(limits));
}

Shares::Room Shares::enter(const net::Peer& peer, bool trusted, Share& share) {
  CHECK(share.shares_ == nullptr);
  const ShareLimits& limits = state_->limits;
  if (state_->all.connections >= limits.connections) return Room::server_full;
  std::string name = caller_name(peer);
  if (!trusted) {
    if (state_->untrusted.connections >= limits.connections_untrusted()) return Room::server_full;
    const auto known = state_->users.find(name);
    const bool full =
        known != state_->users.end() && known->second.connections >= limits.connections_each();
    if (full) return Room::caller_full;
    ++state_->untrusted.connections;
    ++state_->users[name].connections;
  }
  ++state_->all.connections;
  share.shares_ = shared_from_this();
  share.name_ = std::move(name);
  share.trusted_ = trusted;
  return Room::yes;
}

Share& Share::operator=(Share&& other) noexcept {
  if (this == &other) return *this;
  release();
  shares_ = std::exchange(other.shares_, nullptr);
  name_ = std::move(other.name_);
  trusted_ = other.trusted_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void Share::count(std::size_t bytes) {
  Shares::State& state = *shares_->state_;
  state.all.bytes += bytes;
  bytes_ += bytes;
  if (trusted_) return;
  state.untrusted.bytes += bytes;
  state.users[name_].bytes += bytes;
}

bool Share::take(std::size_t bytes) {
  CHECK(shares_ != nullptr);
  Shares::State& state = *shares_->state_;
  const ShareLimits& limits = state.limits;
  if (state.all.bytes + bytes > limits.bytes) return false;
  if (!trusted_) {
    if (state.untrusted.bytes + bytes > limits.bytes_untrusted()) return false;
    if (state.users[name_].bytes + bytes > limits.bytes_each()) return false;
  }
  count(bytes);
  return true;
}

bool Share::take_answer(std::size_t bytes, std::size_t held) {
  CHECK(held <= bytes_);
  if (take(bytes)) return true;
  const Shares::State& state = *shares_->state_;
  const ShareLimits& limits = state.limits;
  const std::size_t others = (trusted_ ? state.all : state.untrusted).bytes - held;
  if (others > 0) return false;
  if (!trusted_ && bytes > limits.bytes_untrusted()) return false;
  if (!trusted_ && state.all.bytes + bytes > limits.bytes) return false;
  count(bytes);
  return true;
}

void Share::release_bytes(std::size_t bytes) {
  if (shares_ == nullptr) return;
  Shares::State& state = *shares_->state_;
  const std::size_t given = std::min(bytes, bytes_);
  bytes_ -= given;
  state.all.bytes -= given;
  if (trusted_) return;
  state.untrusted.bytes -= given;
  state.users[name_].bytes -= given;
}

void Share::trust() {
  if (shares_ == nullptr || trusted_) return;
  Shares::State& state = *shares_->state_;
  state.untrusted.bytes -= bytes_;
  state.users[name_].bytes -= bytes_;
  leave_untrusted();
  trusted_ = true;
}

void Share::leave_untrusted() {
  Shares::State& state = *shares_->state_;
  --state.untrusted.connections;
  const auto own = state.users.find(name_);
  if (--own->second.connections == 0) state.users.erase(own);
}

void Share::release() {
  if (shares_ == nullptr) return;
  release_all_bytes();
  --shares_->state_->all.connections;
  if (!trusted_) leave_untrusted();
  shares_.reset();
}

}  // namespace holdfast::http
