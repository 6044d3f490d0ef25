#include "test/support/loopback.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "platform/check.h"

namespace holdfast::test {
namespace {

constexpr int longest_wait_ms = 1000;

using AddressOf = int (*)(int, sockaddr*, socklen_t*);

// The address and port of an end, as the kernel has them; empty if it is no internet socket.
std::string address(int descriptor, AddressOf address_of) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (address_of(descriptor, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  if (storage.ss_family != AF_INET && storage.ss_family != AF_INET6) return {};
  return {reinterpret_cast<const char*>(&storage), size};
}

// All descriptors of this process.
std::vector<int> descriptors() {
  std::vector<int> found;
  DIR* entries = ::opendir("/proc/self/fd");
  CHECK(entries != nullptr);
  while (const dirent* entry = ::readdir(entries)) found.push_back(std::atoi(entry->d_name));
  ::closedir(entries);
  return found;
}

// 0 if it is no socket, or another thread has closed it.
int bytes_in(int descriptor, unsigned long queue) {
  int count = 0;
  return ::ioctl(descriptor, queue, &count) == 0 ? count : 0;
}

// Lets the receiver's kernel acknowledge at once what it has received.
void acknowledge(int receiver) {
  const int now = 1;
  (void)::setsockopt(receiver, IPPROTO_TCP, TCP_QUICKACK, &now, sizeof now);
}

// The other ends, in this process, of connections whose bytes are not all acknowledged yet.
std::vector<int> receivers_of_unacknowledged() {
  const std::vector<int> all = descriptors();
  std::set<std::string> wanted;
  for (const int sender : all) {
    if (bytes_in(sender, SIOCOUTQ) == 0) continue;
    const std::string peer = address(sender, ::getpeername);
    if (!peer.empty()) wanted.insert(peer + address(sender, ::getsockname));
  }
  std::vector<int> found;
  if (wanted.empty()) return found;
  for (const int receiver : all) {
    const std::string own = address(receiver, ::getsockname);
    if (wanted.contains(own + address(receiver, ::getpeername))) found.push_back(receiver);
  }
  return found;
}

}  // namespace

LoopbackBarrier::LoopbackBarrier() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof own;
  auto* self = reinterpret_cast<sockaddr*>(&own);  // as the socket API wants it
  CHECK(::bind(socket_, self, size) == 0);
  CHECK(::getsockname(socket_, self, &size) == 0);
  CHECK(::connect(socket_, self, size) == 0);  // to itself
  CHECK(::sched_getaffinity(0, sizeof processors_before_, &processors_before_) == 0);
  const int processor = ::sched_getcpu();
  CHECK(processor >= 0);
  cpu_set_t current{};
  CPU_SET(static_cast<std::size_t>(processor), &current);
  CHECK(::sched_setaffinity(0, sizeof current, &current) == 0);
}

LoopbackBarrier::~LoopbackBarrier() {
  (void)::sched_setaffinity(0, sizeof processors_before_, &processors_before_);
  ::close(socket_);
}

void LoopbackBarrier::pass_packets() {
  char byte = 0;
  CHECK(::send(socket_, &byte, 1, 0) == 1);
  CHECK(::recv(socket_, &byte, 1, 0) == 1);
}

void LoopbackBarrier::wait() {
  pass_packets();
  const std::vector<int> receivers = receivers_of_unacknowledged();
  if (receivers.empty()) return;
  for (const int receiver : receivers) acknowledge(receiver);
  pass_packets();
  for (const int receiver : receivers_of_unacknowledged()) {
    if (bytes_in(receiver, SIOCINQ) != 0) continue;  // the sender may be waiting for it to read
    pollfd readable{receiver, POLLIN, 0};
    (void)::poll(&readable, 1, longest_wait_ms);
  }
}

}  // namespace holdfast::test
