// Limits the memory of holdfast-cloud, whatever an API server sends.
//
// Lists are read in pages, and each page is applied before the next one is requested. Memory is
// therefore used by one page of each list and by what the controllers keep of each object. Both
// have a limit. AnswerLimits bounds the bytes that all clients together have received and not
// applied yet. HeapLimit bounds the heap as a whole, because a decoded object may be larger than
// its bytes. A list that exceeds a limit fails and is retried after a pause.
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
  // Beyond it no objects are accepted. 5,000 nodes and 20,000 pods take about 50 MiB.
  std::size_t heap_bytes = 88UL << 20;
  AnswerLimits answers = {.answer_bytes = 16UL << 20,
                          .in_flight = {.bytes = 24UL << 20, .own = 24UL << 20, .foreign = 0}};
  std::size_t event_bytes = 3UL << 20;  // of one watch event: twice etcd's limit for an object
  std::size_t list_items = 250'000;     // of one list; Kubernetes supports 150,000 pods
  std::size_t list_bytes = 2UL << 30;   // of all pages of one list, which are never held together
  std::int64_t page_items = 250;
};

// Compares the heap of the process with a limit. The heap is measured again after every 64 KiB of
// admitted bytes, and before every object while it is over the limit.
class HeapLimit {
 public:
  // Returns the bytes of heap in use.
  using Measure = std::function<std::size_t()>;

  HeapLimit(std::size_t most, Measure measure) : most_(most), measure_(std::move(measure)) {}

  // Call before an object of `bytes` bytes is decoded and kept. Errors: exhausted while the heap
  // has more than `most` bytes.
  [[nodiscard]] Status admit(std::size_t bytes);

 private:
  std::size_t most_;
  Measure measure_;
  std::size_t unmeasured_ = 0;  // bytes admitted since the last measurement
  bool full_ = false;
};

// The limits of one holdfast-cloud process, shared by all its clients and feeds.
class CloudMemory {
 public:
  explicit CloudMemory(const CloudMemoryLimits& limits = {});
  CloudMemory(const CloudMemoryLimits& limits, HeapLimit::Measure measure);

  // The reader that every API client of the process uses, so that they share the limits.
  [[nodiscard]] const std::shared_ptr<AnswerReader>& answers() const { return answers_; }
  [[nodiscard]] http::ClientLimits client_limits() const;
  [[nodiscard]] HeapLimit& heap() { return heap_; }
  // Sets the page size and the limits of a list-watch. Its sink must be a Feed that uses this
  // CloudMemory.
  void limit(ListWatchTarget& target) const;

 private:
  CloudMemoryLimits limits_;
  std::shared_ptr<AnswerReader> answers_;
  HeapLimit heap_;
};

}  // namespace holdfast::agent
