// Waits until the loopback interface has delivered what was sent, so that a test in virtual time
// does not take the kernel's delays for its peer's.

#pragma once

#include <sched.h>

namespace holdfast::test {

// What this thread sent over loopback, to sockets of this process, has arrived after wait().
//
// A processor delivers its packets in their order, so a packet that is sent to oneself arrives
// after all others. Each processor has a queue of its own; therefore the thread stays on one
// processor for as long as the barrier exists.
//
// That alone does not suffice for streams, since their sender may wait, too: for an acknowledgement
// that the receiver's kernel delays by up to 40 ms, or, because a segment of loopback has 64 KiB,
// for a larger window, up to 200 ms. Both would be times in which hours of virtual time pass.
class LoopbackBarrier {
 public:
  LoopbackBarrier();
  ~LoopbackBarrier();
  LoopbackBarrier(const LoopbackBarrier&) = delete;
  LoopbackBarrier& operator=(const LoopbackBarrier&) = delete;

  // Waits for packets on their way, which takes a few microseconds.
  void pass_packets();
  // Waits for streams as well: usually some ten microseconds, at most a second for each.
  void wait();

 private:
  int socket_ = -1;
  cpu_set_t processors_before_{};
};

}  // namespace holdfast::test
