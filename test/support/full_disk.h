// Simulates a full disk on any machine.

#pragma once

#include <sys/resource.h>

#include <csignal>

namespace holdfast::test {

// While this object exists, files of this process and of the children that it starts cannot grow
// beyond `bytes`.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    (void)::signal(SIGXFSZ, SIG_IGN);
    (void)::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    (void)::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() { (void)::setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

}  // namespace holdfast::test
