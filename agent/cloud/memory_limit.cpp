#include "agent/cloud/memory_limit.h"

#include "platform/memory.h"

namespace holdfast::agent {
namespace {

// Measuring takes microseconds, too long to repeat it for each renewed Lease.
constexpr std::size_t measure_each = 64UL << 10;

}  // namespace

Status HeapLimit::admit(std::size_t bytes) {
  unmeasured_ += bytes;
  if (full_ || unmeasured_ >= measure_each) {
    unmeasured_ = 0;
    full_ = measure_() > most_;
  }
  if (!full_) return {};
  return fail(Errc::exhausted, "the objects take more than " + std::to_string(most_) +
                                   " bytes of memory (--heap-max)");
}

CloudMemory::CloudMemory(const CloudMemoryLimits& limits)
    : CloudMemory(limits, heap_bytes_in_use) {}

CloudMemory::CloudMemory(const CloudMemoryLimits& limits, HeapLimit::Measure measure)
    : limits_(limits),
      answers_(std::make_shared<AnswerReader>(limits.answers)),
      heap_(limits.heap_bytes, std::move(measure)) {}

http::ClientLimits CloudMemory::client_limits() const {
  http::ClientLimits limits;
  limits.reader.body_bytes = limits_.answers.error_bytes;
  return limits;
}

void CloudMemory::limit(ListWatchTarget& target) const {
  target.frames.document_bytes = limits_.event_bytes;
  target.reflector.first_list_version = "";  // "0" would return all objects in one answer
  target.reflector.page_size = limits_.page_items;
  target.reflector.list_items = limits_.list_items;
  target.reflector.list_bytes = limits_.list_bytes;
  target.reflector.by_page = true;
}

}  // namespace holdfast::agent
