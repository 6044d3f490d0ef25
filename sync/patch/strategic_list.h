// How lists merge in a strategic merge patch: by key, in an order that keeps both sides' order.
// For strategic_patch.cpp only.

#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sync/api/json.h"
#include "sync/patch/schema.h"

namespace holdfast::sync::strategic {

inline constexpr std::string_view directive = "$patch";
inline constexpr std::string_view retain_keys = "$retainKeys";
inline constexpr std::string_view order_prefix = "$setElementOrder/";
inline constexpr std::string_view delete_prefix = "$deleteFromPrimitiveList/";

// A value as upstream's %v prints it, for errors: map[a:b c:[1 2]].
[[nodiscard]] std::string printed(const json::value& value);
[[nodiscard]] Error no_merge_key(const json::value& element, std::string_view key);
// "expected a []interface {}, but received a string".
[[nodiscard]] Error bad_type(std::string_view wanted, const json::value& got);

// Positions of a list's elements by their key (or by themselves when `key` is empty).
class ListIndex {
 public:
  ListIndex(const json::array& list, std::string_view key);
  // The first one, or npos.
  [[nodiscard]] std::size_t find(const json::value& element) const;
  [[nodiscard]] bool has(const json::value& element) const { return find(element) != npos; }
  void add(const json::value& element, std::size_t position);

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

 private:
  [[nodiscard]] std::string identity(const json::value& element) const;

  std::string_view key_;
  std::unordered_map<std::string, std::size_t> positions_;
};

// What all elements must be, for a list to be merged.
enum class Elements : std::uint8_t { none, objects, scalars };
// Errors: corrupt (mixed), invalid (lists of lists).
[[nodiscard]] Result<Elements> elements_of(const json::array& one, const json::array& other);

// Sorts those elements of `merged` that `wanted` has into its order and puts the others between
// them as they stood in `before`.
[[nodiscard]] json::array in_order(json::array merged, const json::array& wanted,
                                   const json::array& before, std::string_view key);

// Scalars: the union, or `before` without those of `patch`.
[[nodiscard]] json::array united(const json::array& before, const json::array& patch);
[[nodiscard]] json::array without(const json::array& before, const json::array& patch);

// Carries out the $patch elements of a list of objects: takes them out of `patch`, and what they
// delete or replace out of `before`.
// Errors: corrupt (an element without its key, an unknown directive).
[[nodiscard]] Status take_directives(json::array& before, json::array& patch, std::string_view key);

// The patch's elements must stand in the order that $setElementOrder gives, and all be in it.
[[nodiscard]] Status check_order(const json::array& patch, const json::array& order,
                                 std::string_view key);

}  // namespace holdfast::sync::strategic
