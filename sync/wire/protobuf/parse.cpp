#include "sync/wire/protobuf/parse.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/message_lite.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"

namespace holdfast::sync::wire::proto {
namespace {

using google::protobuf::MessageLite;

bool parses(MessageLite& message, std::string_view bytes) {
  return message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// An input stream of small pieces that ends when the arena has grown too large.
class LimitedInput final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  static constexpr std::size_t piece = 16UL << 10;

  LimitedInput(std::string_view bytes, const google::protobuf::Arena& arena)
      : bytes_(bytes), arena_(arena) {}

  bool Next(const void** data, int* size) override {
    if (arena_.SpaceAllocated() > arena_bytes_max) exceeded_ = true;
    if (exceeded_ || at_ == bytes_.size()) return false;
    const std::size_t length = std::min(piece, bytes_.size() - at_);
    *data = bytes_.data() + at_;
    *size = static_cast<int>(length);
    at_ += length;
    return true;
  }
  void BackUp(int count) override { at_ -= static_cast<std::size_t>(count); }
  bool Skip(int count) override {
    const auto wanted = static_cast<std::size_t>(count);
    const bool there = wanted <= bytes_.size() - at_;
    at_ = there ? at_ + wanted : bytes_.size();
    return there;
  }
  [[nodiscard]] std::int64_t ByteCount() const override { return static_cast<std::int64_t>(at_); }

  [[nodiscard]] bool exceeded() const { return exceeded_; }

 private:
  std::string_view bytes_;
  const google::protobuf::Arena& arena_;
  std::size_t at_ = 0;
  bool exceeded_ = false;
};

// The parser reports only that it failed. This finds the failing field of the outermost message.
Error where_it_broke(const MessageLite& message, std::string_view bytes) {
  WireCursor in(bytes);
  while (in.next()) {
    const std::unique_ptr<MessageLite> alone(message.New());
    if (parses(*alone, bytes.substr(in.offset(), in.end_offset() - in.offset()))) continue;
    const std::string number = std::to_string(in.number());
    return {Errc::invalid, "protobuf at byte " + std::to_string(in.offset()) + ": field " + number +
                               " is broken or nested too deep"};
  }
  return in.ok() ? Error{Errc::invalid, "protobuf: broken"} : in.error();
}

}  // namespace

Result<std::string_view> object_of(std::string_view kind, std::string_view bytes) {
  if (!is_protobuf(bytes)) return bytes;
  TRY(const Envelope envelope, open_envelope(bytes));
  if (envelope.kind != kind) {
    return fail(Errc::invalid,
                "kind: expected " + std::string(kind) + ", found " + std::string(envelope.kind));
  }
  return envelope.raw;
}

Status parse(MessageLite& message, std::string_view bytes, const google::protobuf::Arena& arena) {
  // Bodies and frames have much smaller limits.
  if (bytes.size() > std::size_t{std::numeric_limits<int>::max()}) {
    return fail(Errc::invalid, "protobuf: more than 2 GiB");
  }
  if (bytes.size() <= LimitedInput::piece) {
    if (parses(message, bytes)) return {};
    return fail(where_it_broke(message, bytes));
  }
  LimitedInput input(bytes, arena);
  if (message.ParsePartialFromZeroCopyStream(&input) && !input.exceeded()) return {};
  if (input.exceeded()) {
    return fail(Errc::exhausted, "protobuf: takes more than " + std::to_string(arena_bytes_max) +
                                     " bytes of memory");
  }
  return fail(where_it_broke(message, bytes));
}

}  // namespace holdfast::sync::wire::proto
