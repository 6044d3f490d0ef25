// What pods ask for and nodes have, as numbers: parsed once, added and subtracted often.
//
// cpu is in thousandths of a core, all else in whole units (bytes, pieces), rounded up. An amount
// is cut to 2^52, so that the sums of a thousand pods stay exact; below zero it counts as zero.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "sync/model/pod.h"

namespace holdfast::sync::schedule {

// Numbers for the names of scalar resources (extended ones, huge pages, ...). Only grows.
class Symbols {
 public:
  using Id = std::uint32_t;

  [[nodiscard]] Id id(std::string_view name);
  // Borrowed for as long as the table lives.
  [[nodiscard]] const std::string& name(Id id) const { return *names_[id]; }

 private:
  std::map<std::string, Id, std::less<>> ids_;
  std::vector<const std::string*> names_;
};

struct Scalar {
  Symbols::Id resource;
  std::int64_t amount;

  bool operator==(const Scalar&) const = default;
};

struct Resources {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral_storage = 0;
  std::vector<Scalar> scalars;  // sorted by resource

  bool operator==(const Resources&) const = default;

  void add(const Resources& other);
  void subtract(const Resources& other);
  // The larger one of each.
  void raise(const Resources& other);
  // 0 for a resource that is not here.
  [[nodiscard]] std::int64_t scalar(Symbols::Id resource) const;
  [[nodiscard]] bool nothing() const {
    return milli_cpu == 0 && memory == 0 && ephemeral_storage == 0 && scalars.empty();
  }
};

// A resource list. Names that are neither native nor scalar are left out; so is "pods".
// Errors: invalid, naming the resource.
[[nodiscard]] Result<Resources> read_resources(const StringMap& list, Symbols& symbols);

// 0 when there is none. Errors: invalid.
[[nodiscard]] Result<std::int64_t> read_amount(const StringMap& list, std::string_view resource);

struct PodRequests {
  Resources real;
  // For scores: a container without a request counts with 100m and 200Mi.
  std::int64_t scored_cpu = 0;
  std::int64_t scored_memory = 0;
};

// All containers at once, or the hungriest init container with the sidecars before it, whichever is
// more; and the overhead. Errors: invalid, naming the field.
[[nodiscard]] Result<PodRequests> read_requests(const PodSpec& spec, Symbols& symbols);

// "example.com/gpu": a resource of somebody's own.
[[nodiscard]] bool is_extended(std::string_view resource);

}  // namespace holdfast::sync::schedule
