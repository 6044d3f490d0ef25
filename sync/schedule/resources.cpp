#include "sync/schedule/resources.h"

#include <algorithm>

#include "sync/objects/quantity.h"

namespace holdfast::sync::schedule {
namespace {

constexpr std::int64_t amount_max = std::int64_t{1} << 52;

std::int64_t cut(std::int64_t amount) { return std::clamp<std::int64_t>(amount, 0, amount_max); }

bool is_scalar(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.starts_with("hugepages-") ||
         name.starts_with("attachable-volumes-");
}

auto find_scalar(std::vector<Scalar>& scalars, Symbols::Id resource) {
  return std::lower_bound(
      scalars.begin(), scalars.end(), resource,
      [](const Scalar& scalar, Symbols::Id wanted) { return scalar.resource < wanted; });
}

std::int64_t& amount_of(std::vector<Scalar>& scalars, Symbols::Id resource) {
  const auto at = find_scalar(scalars, resource);
  if (at != scalars.end() && at->resource == resource) return at->amount;
  return scalars.insert(at, {resource, 0})->amount;
}

Result<std::int64_t> parse_amount(const std::string& name, const std::string& text) {
  const auto quantity = objects::Quantity::parse(text);
  if (!quantity) return fail(name, quantity.error());
  return cut(name == "cpu" ? quantity->milli_value() : quantity->value());
}

}  // namespace

Symbols::Id Symbols::id(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const auto added = ids_.emplace(std::string(name), static_cast<Id>(names_.size())).first;
  names_.push_back(&added->first);
  return added->second;
}

void Resources::add(const Resources& other) {
  milli_cpu += other.milli_cpu;
  memory += other.memory;
  ephemeral_storage += other.ephemeral_storage;
  for (const Scalar& scalar : other.scalars) amount_of(scalars, scalar.resource) += scalar.amount;
}

void Resources::subtract(const Resources& other) {
  milli_cpu -= other.milli_cpu;
  memory -= other.memory;
  ephemeral_storage -= other.ephemeral_storage;
  for (const Scalar& scalar : other.scalars) amount_of(scalars, scalar.resource) -= scalar.amount;
}

void Resources::raise(const Resources& other) {
  milli_cpu = std::max(milli_cpu, other.milli_cpu);
  memory = std::max(memory, other.memory);
  ephemeral_storage = std::max(ephemeral_storage, other.ephemeral_storage);
  for (const Scalar& scalar : other.scalars) {
    std::int64_t& amount = amount_of(scalars, scalar.resource);
    amount = std::max(amount, scalar.amount);
  }
}

void Resources::set_scalar(Symbols::Id resource, std::int64_t amount) {
  amount_of(scalars, resource) = amount;
}

std::int64_t Resources::scalar(Symbols::Id resource) const {
  for (const Scalar& scalar : scalars) {
    if (scalar.resource == resource) return scalar.amount;
  }
  return 0;
}

Result<Resources> read_resources(const StringMap& list, Symbols& symbols) {
  Resources out;
  for (const auto& [name, text] : list) {
    const bool scalar = is_scalar(name);
    if (!scalar && name != "cpu" && name != "memory" && name != "ephemeral-storage") continue;
    TRY(const std::int64_t amount, parse_amount(name, text));
    if (scalar) {
      amount_of(out.scalars, symbols.id(name)) = amount;
    } else if (name == "cpu") {
      out.milli_cpu = amount;
    } else if (name == "memory") {
      out.memory = amount;
    } else {
      out.ephemeral_storage = amount;
    }
  }
  return out;
}

Result<std::int64_t> read_amount(const StringMap& list, std::string_view resource) {
  const std::string* text = list.find(resource);
  if (text == nullptr) return 0;
  return parse_amount(std::string(resource), *text);
}

}  // namespace holdfast::sync::schedule
