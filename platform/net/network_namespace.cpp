#include "platform/net/network_namespace.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>
#include <string>

#include "platform/check.h"
#include "platform/fs/errno.h"

namespace holdfast::net {
namespace {

constexpr const char* own_namespace = "/proc/thread-self/ns/net";

Result<Descriptor> open_own() {
  Descriptor handle(open(own_namespace, O_RDONLY | O_CLOEXEC));
  if (!handle.is_open()) return fail_errno(own_namespace);
  return handle;
}

Status bring_loopback_up() {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return fail_errno("socket");
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", sizeof request.ifr_name - 1);
  if (ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0) return fail_errno("read lo");
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
  if (ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0) return fail_errno("bring lo up");
  return {};
}

}  // namespace

Result<NetworkNamespace> NetworkNamespace::create() {
  TRY(const Descriptor outside, open_own());
  if (unshare(CLONE_NEWNET) != 0) return fail_errno("create a network namespace");
  auto inside = open_own();
  const Status up = bring_loopback_up();
  CHECK(setns(outside.get(), CLONE_NEWNET) == 0);
  if (!inside) return fail(inside.error());
  if (!up) return fail(up.error());
  struct stat about {};
  if (fstat(inside->get(), &about) != 0) return fail_errno(own_namespace);
  return NetworkNamespace(*std::move(inside), about.st_ino);
}

bool NetworkNamespace::has(pid_t pid) const {
  struct stat about {};
  const std::string file = "/proc/" + std::to_string(pid) + "/ns/net";
  return stat(file.c_str(), &about) == 0 && about.st_ino == inode_;
}

InsideNamespace::InsideNamespace(const NetworkNamespace* where) {
  if (where == nullptr) return;
  auto outside = open_own();
  CHECK(outside);
  outside_ = *std::move(outside);
  CHECK(setns(where->handle_.get(), CLONE_NEWNET) == 0);
}

InsideNamespace::~InsideNamespace() {
  if (outside_.is_open()) CHECK(setns(outside_.get(), CLONE_NEWNET) == 0);
}

}  // namespace holdfast::net
