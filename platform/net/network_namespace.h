// Network namespaces (network_namespaces(7)): separate sets of interfaces, addresses and ports.
//
// A socket belongs to the namespace in which its thread was when it was created, for ever, and a
// process to that of the thread that started it. So one process can listen in one namespace and
// connect in another. Creating and entering need CAP_SYS_ADMIN.

#pragma once

#include <sys/types.h>

#include <cstdint>

#include "platform/fs/descriptor.h"
#include "platform/result.h"

namespace holdfast::net {

// A namespace that exists as long as this object, a process or a socket in it.
class NetworkNamespace {
 public:
  // Creates a namespace that has nothing but the loopback interface, which is up. The calling
  // thread stays where it is. Errors: denied (without CAP_SYS_ADMIN), exhausted, unavailable.
  [[nodiscard]] static Result<NetworkNamespace> create();

  // Whether the process is in this namespace; false if it does not exist.
  [[nodiscard]] bool has(pid_t pid) const;

 private:
  friend class InsideNamespace;
  NetworkNamespace(Descriptor handle, std::uint64_t inode)
      : handle_(std::move(handle)), inode_(inode) {}

  Descriptor handle_;
  std::uint64_t inode_ = 0;
};

// The calling thread is in the namespace for the time of a scope, which must not suspend a
// coroutine: other work of the loop would run inside, too. A thread that cannot return to its own
// namespace stops the process.
class InsideNamespace {
 public:
  // `where` may be null: then nothing happens. A failure to enter stops the process, because
  // create() has shown that it is possible.
  explicit InsideNamespace(const NetworkNamespace* where);
  ~InsideNamespace();
  InsideNamespace(const InsideNamespace&) = delete;
  InsideNamespace& operator=(const InsideNamespace&) = delete;

 private:
  Descriptor outside_;
};

}  // namespace holdfast::net
