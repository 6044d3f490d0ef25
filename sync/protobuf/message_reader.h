// The machinery of decode_*.cpp: reads generated messages into the structs of types.h.
//
// A message describes itself once, as `fields(f, message, object)`: each known field with its
// number, its JSON name, the message's value and the object's member; with whether it is there when
// the member is an optional. Only the decode_*.cpp files include this.

#pragma once

#include <google/protobuf/arena.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "sync/api/boxed.h"
#include "sync/api/codec_path.h"
#include "sync/api/meta_types.h"
#include "sync/protobuf/decode.h"
#include "sync/protobuf/parse.h"
#include "sync/protobuf/wire/meta.pb.h"

namespace holdfast::sync::proto {

using codec::Path;
using google::protobuf::RepeatedPtrField;

template <class M>
concept IsMessage = std::derived_from<M, google::protobuf::MessageLite>;

// Of one object, in all of its repeated fields.
inline constexpr std::size_t read_items_max = 20'000;

// What the readers of one object share.
struct ReadState {
  std::string error;      // the first one
  std::size_t items = 0;  // of repeated fields, so far
};

class MessageReader {
 public:
  // `unknown` are the message's fields that the parser did not know.
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
  void done() { check(unknown_, known_, at_); }

 private:
  // A known field among the unknown ones has a type that is not its own.
  void check(const std::string& unknown, std::uint64_t known, const Path* at);
  void failed(const Path& path, std::string_view what);

  void read(const std::string& in, std::string& out, const Path& path);
  void read(const std::string& in, std::optional<std::string>& out, const Path& path) {
    read(in, out.emplace(), path);
  }
  void read(const wire::Time& in, std::optional<WallTime>& out, const Path& path);
  void read(const wire::MicroTime& in, std::optional<WallTime>& out, const Path& path);
  void read(const wire::IntOrString& in, std::optional<IntOrString>& out, const Path& path);
  void read(const RepeatedPtrField<std::string>& in, std::vector<std::string>& out,
            const Path& path);
  void read(const RepeatedPtrField<wire::StringEntry>& in, StringMap& out, const Path& path);
  void read(const RepeatedPtrField<wire::QuantityEntry>& in, StringMap& out, const Path& path);

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
  std::string& error_;       // of state_
  std::uint64_t known_ = 0;  // a bit for each number; none is above 63
};

template <class F>
void fields(F& f, const wire::OwnerReference& m, OwnerReference& t) {
  f(1, "kind", m.kind(), t.kind);
  f(3, "name", m.name(), t.name);
  f(4, "uid", m.uid(), t.uid);
  f(5, "apiVersion", m.api_version(), t.api_version);
  f(6, "controller", m.has_controller(), m.controller(), t.controller);
  f(7, "blockOwnerDeletion", m.has_block_owner_deletion(), m.block_owner_deletion(),
    t.block_owner_deletion);
}

template <class F>
void fields(F& f, const wire::ObjectMeta& m, ObjectMeta& t) {
  f(1, "name", m.name(), t.name);
  f(2, "generateName", m.generate_name(), t.generate_name);
  f(3, "namespace", m.namespace_(), t.namespace_name);
  f(5, "uid", m.uid(), t.uid);
  f(6, "resourceVersion", m.resource_version(), t.resource_version);
  f(7, "generation", m.generation(), t.generation);
  f(8, "creationTimestamp", m.creation_timestamp(), t.creation_timestamp);
  f(9, "deletionTimestamp", m.deletion_timestamp(), t.deletion_timestamp);
  f(10, "deletionGracePeriodSeconds", m.has_deletion_grace_period_seconds(),
    m.deletion_grace_period_seconds(), t.deletion_grace_period_seconds);
  f(11, "labels", m.labels(), t.labels);
  f(12, "annotations", m.annotations(), t.annotations);
  f(13, "ownerReferences", m.owner_references(), t.owner_references);
  f(14, "finalizers", m.finalizers(), t.finalizers);
}

// What decode_protobuf<T> is made of; M is T's message.
template <class M, class T>
Result<T> read_message(std::string_view bytes) {
  const auto raw = object_of(T::kind, bytes);
  if (!raw) return fail(std::string(T::kind), raw.error());
  // Most objects fit into what is on the stack.
  std::array<char, 4096> scratch;
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

}  // namespace holdfast::sync::proto
