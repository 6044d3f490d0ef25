// What holdfast-cloud may hold in memory, whatever an API server sends.
//
// Lists are read in pages, and each page is taken over before the next one is asked for: what is
// held is one page of each list, and what the controllers keep of each object. Both have a limit:
// the first one by the bytes that are received and not taken over yet (of all clients together),
// the second one by the heap as a whole, because the decoded form of an object may be larger than
// its bytes. Beyond a limit a list fails and is tried again after a pause.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <memory>

#include "agent/client/answer_reader.h"
#include "agent/client/list_watch.h"
#include "platform/http/client.h"

namespace holdfast::agent {

struct CloudMemoryLimits {
  // Beyond it no objects are taken over. 5,000 nodes and 20,000 pods take about 50 MiB.
  std::size_t heap_bytes = 88UL << 20;
  AnswerLimits answers = {.answer_bytes = 16UL << 20,
                          .in_flight = {.bytes = 24UL << 20, .own = 24UL << 20, .foreign = 0}};
  std::size_t event_bytes = 3UL << 20;  // of one watch event: twice what etcd takes
  std::size_t list_items = 250'000;     // of one list; Kubernetes supports 150,000 pods
  std::size_t list_bytes = 2UL << 30;   // of all pages of one list; they are not held together
  std::int64_t page_items = 250;
};

// The heap of the process against a limit.
class HeapLimit {
 public:
  using Measure = std::function<std::size_t()>;

  HeapLimit(std::size_t most, Measure measure) : most_(most), measure_(std::move(measure)) {}

  // Before an object of so many bytes is taken over. Errors: exhausted, while the heap has more
  // than `most` bytes.
  [[nodiscard]] Status admit(std::size_t bytes);

 private:
  std::size_t most_;
  Measure measure_;
  std::size_t unmeasured_ = 0;  // bytes admitted since the last measurement
  bool full_ = false;
};

class CloudMemory {
 public:
  explicit CloudMemory(const CloudMemoryLimits& limits = {});
  CloudMemory(const CloudMemoryLimits& limits, HeapLimit::Measure measure);

  // For every client of an API server: they share the limits.
  [[nodiscard]] const std::shared_ptr<AnswerReader>& answers() const { return answers_; }
  [[nodiscard]] http::ClientLimits client_limits() const;
  [[nodiscard]] HeapLimit& heap() { return heap_; }
  // Makes a list-watch keep the limits. Its sink is a Feed with this memory.
  void limit(ListWatchTarget& target) const;

 private:
  CloudMemoryLimits limits_;
  std::shared_ptr<AnswerReader> answers_;
  HeapLimit heap_;
};

}  // namespace holdfast::agent
