// Amounts of resources as integers, which are parsed once and then added and subtracted.
//
// cpu is in thousandths of a core, all else in whole units (bytes, pieces), rounded up. Each amount
// is limited to 0..2^52, so that sums of a thousand pods do not overflow.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "sync/model/string_map.h"

namespace holdfast::sync::schedule {

// Assigns a number to each name of a scalar resource (extended resources, huge pages, attachable
// volumes). Names are never removed.
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
  // Sets each amount to the larger of both.
  void raise(const Resources& other);
  void set_scalar(Symbols::Id resource, std::int64_t amount);
  // 0 if the resource is absent.
  [[nodiscard]] std::int64_t scalar(Symbols::Id resource) const;
  [[nodiscard]] bool nothing() const {
    return milli_cpu == 0 && memory == 0 && ephemeral_storage == 0 && scalars.empty();
  }
};

// Parses a resource list. Skips "pods" and names that are neither native nor scalar resources.
// Errors: invalid, naming the resource.
[[nodiscard]] Result<Resources> read_resources(const StringMap& list, Symbols& symbols);

// The amount of one resource; 0 if the list does not have it. Errors: invalid.
[[nodiscard]] Result<std::int64_t> read_amount(const StringMap& list, std::string_view resource);

}  // namespace holdfast::sync::schedule
