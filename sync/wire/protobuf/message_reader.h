// Reads protobuf messages into the structs of types.h.
//
// sync/model generates `fields(f, message, object)` for each message: it calls `f` for every known
// field with its number, its JSON name, the message's value and the object's member, and for
// optional members also with whether the field is set. Only the generated *_message files include
// this header.

#pragma once

#include <google/protobuf/arena.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "sync/model/boxed.h"
#include "sync/model/int_or_string.h"
#include "sync/model/string_map.h"
#include "sync/wire/codec_path.h"
#include "sync/wire/protobuf/base.pb.h"
#include "sync/wire/protobuf/decode.h"
#include "sync/wire/protobuf/parse.h"

namespace holdfast::sync::wire::proto {

using codec::Path;
using google::protobuf::RepeatedPtrField;

template <class M>
concept IsMessage = std::derived_from<M, google::protobuf::MessageLite>;

// The maximum number of items in all repeated fields of one object.
inline constexpr std::size_t read_items_max = 20'000;

// State that the readers of one object share.
struct ReadState {
  std::string error;      // the first error, or ""
  std::size_t items = 0;  // items of repeated fields so far
};

class MessageReader {
 public:
  // `unknown` has the fields that the parser did not know.
  MessageReader(const std::string& unknown, const Path* at, ReadState& state)
      : unknown_(unknown), at_(at), state_(state), error_(state.error) {}

  template <class In, class Out>
  void operator()(int number, std::string_view name, const In& in, Out& out) {
    known_ |= std::uint64_t{1} << static_cast<unsigned>(number);
    if (error_.empty()) read(in, out, Path{at_, name, {}});
  }
  template <class In, class Out>
  void operator()(int number, std::string_view name, bool there, const In& in, Out& out) {
    known_ |= std::uint64_t{1} << static_cast<unsigned>(number);
    if (there && error_.empty()) read(in, out, Path{at_, name, {}});
  }
  // A message that Go embeds: JSON shows its fields as fields of the enclosing message.
  template <IsMessage M, class T>
  void embedded(int number, const M& in, T& out) {
    known_ |= std::uint64_t{1} << static_cast<unsigned>(number);
    MessageReader inner(in.unknown_fields(), at_, state_);
    fields(inner, in, out);
    inner.done();
  }
  void done() { check(unknown_, known_, at_); }

 private:
  // Reports a known field among the unknown ones: it has the wrong wire type.
  void check(const std::string& unknown, std::uint64_t known, const Path* at);
  void failed(const Path& path, std::string_view what);

  void read(const std::string& in, std::string& out, const Path& path);
  void read(const std::string& in, std::optional<std::string>& out, const Path& path) {
    read(in, out.emplace(), path);
  }
  void read(const messages::Time& in, std::optional<WallTime>& out, const Path& path);
  void read(const messages::MicroTime& in, std::optional<WallTime>& out, const Path& path);
  void read(const messages::IntOrString& in, std::optional<IntOrString>& out, const Path& path);
  void read(const RepeatedPtrField<std::string>& in, std::vector<std::string>& out,
            const Path& path);
  void read(const RepeatedPtrField<messages::StringEntry>& in, StringMap& out, const Path& path);
  void read(const RepeatedPtrField<messages::QuantityEntry>& in, StringMap& out, const Path& path);

  template <class T>
  requires std::is_arithmetic_v<T>
  void read(T in, T& out, const Path&) { out = in; }
  template <class T>
  requires std::is_arithmetic_v<T>
  void read(T in, std::optional<T>& out, const Path&) { out = in; }
  template <IsMessage M, class T>
  void read(const M& in, T& out, const Path& path) {
    MessageReader inner(in.unknown_fields(), &path, state_);
    fields(inner, in, out);
    inner.done();
  }
  template <IsMessage M, class T>
  void read(const M& in, std::optional<T>& out, const Path& path) {
    read(in, out.emplace(), path);
  }
  template <IsMessage M, class T>
  void read(const M& in, Boxed<T>& out, const Path& path) {
    out = Boxed<T>(T{});
    read(in, *out, path);
  }
  template <IsMessage M, class T>
  void read(const RepeatedPtrField<M>& in, std::vector<T>& out, const Path& path) {
    state_.items += static_cast<std::size_t>(in.size());
    if (state_.items > read_items_max) return failed(path, "too many items");
    out.reserve(static_cast<std::size_t>(in.size()));
    for (const M& item : in) {
      T& added = out.emplace_back();
      if (error_.empty()) read(item, added, Path{&path, {}, {}, out.size() - 1});
    }
  }

  const std::string& unknown_;
  const Path* at_;
  ReadState& state_;
  std::string& error_;       // state_.error
  std::uint64_t known_ = 0;  // one bit per field number; none is above 63
};

// The implementation of decode_protobuf<T>; M is T's message.
template <class M, class T>
Result<T> read_message(std::string_view bytes) {
  const auto raw = object_of(T::kind, bytes);
  if (!raw) return fail(std::string(T::kind), raw.error());
  // Most objects fit into this block on the stack. An arena's block is for any type.
  alignas(std::max_align_t) std::array<char, 4096> scratch;
  google::protobuf::ArenaOptions options;
  options.initial_block = scratch.data();
  options.initial_block_size = scratch.size();
  google::protobuf::Arena arena(options);
  M& message = *google::protobuf::Arena::CreateMessage<M>(&arena);
  if (auto parsed = parse(message, *raw, arena); !parsed) {
    return fail(std::string(T::kind), parsed.error());
  }
  ReadState state;
  MessageReader reader(message.unknown_fields(), nullptr, state);
  T out;
  fields(reader, message, out);
  reader.done();
  if (!state.error.empty()) return fail(Errc::invalid, std::string(T::kind) + ": " + state.error);
  return out;
}

}  // namespace holdfast::sync::wire::proto
