// Watch streams in both encodings: the result does not depend on how the network splits them,
// limits hold, and an event that is written is read back unchanged.

#include "platform/check.h"
#include "sync/wire/frames.h"
#include "sync/wire/protobuf/frames.h"
#include "test/fuzz/pieces.h"

namespace holdfast::sync {
namespace {

struct Cut {
  std::vector<std::string> documents;
  bool broken = false;
  bool idle = false;

  bool operator==(const Cut&) const = default;
};

template <class Splitter>
Cut cut(const std::vector<std::string_view>& pieces, const wire::FrameLimits& limits) {
  Cut out;
  Splitter splitter(limits);
  for (const std::string_view piece : pieces) {
    auto documents = splitter.feed(piece);
    if (!documents) {
      // Once broken, a splitter stays broken.
      CHECK(!splitter.feed("{}").has_value());
      out.broken = true;
      return out;
    }
    for (std::string& document : *documents) out.documents.push_back(std::move(document));
  }
  out.idle = splitter.idle();
  return out;
}

// The documents from the whole input, after checking that reading it in pieces gives the same.
// Documents before an error are returned only if they came in an earlier piece.
template <class Splitter>
std::vector<std::string> documents(std::string_view bytes, const wire::FrameLimits& limits) {
  const Cut whole = cut<Splitter>({bytes}, limits);
  const Cut pieced = cut<Splitter>(test::pieces(bytes), limits);
  CHECK(whole.broken == pieced.broken);
  CHECK(whole.broken || whole == pieced);
  for (const std::string& document : pieced.documents) {
    CHECK(document.size() <= limits.document_bytes);
  }
  return pieced.documents;
}

// Our own events may be slightly longer than the ones that were read.
constexpr wire::FrameLimits roomy{.document_bytes = 1U << 20U, .depth = 256};

template <class Splitter>
void check_again(const wire::WatchEvent& event, const std::string& frame,
                 Result<wire::WatchEvent> (*decode)(std::string_view)) {
  const Cut again = cut<Splitter>({frame}, roomy);
  CHECK(!again.broken && again.idle && again.documents.size() == 1);
  const auto read = decode(again.documents.front());
  CHECK(read.has_value() && *read == event);
}

void check_json_event(std::string_view document) {
  const auto event = wire::decode_event(document);
  if (!event) return;
  const Cut alone = cut<wire::FrameSplitter>({document}, roomy);
  CHECK(!alone.broken && alone.idle && alone.documents.size() == 1);
  check_again<wire::FrameSplitter>(*event, encode_event(event->type, event->object),
                                   wire::decode_event);
}

void check_protobuf_event(std::string_view document) {
  const auto event = wire::decode_protobuf_event(document);
  if (!event) return;
  check_again<wire::ProtobufFrames>(*event, encode_protobuf_event(event->type, event->object),
                                    wire::decode_protobuf_event);
}

void check_frames(std::string_view bytes) {
  check_json_event(bytes);
  check_protobuf_event(bytes);
  for (const wire::FrameLimits& limits :
       {wire::FrameLimits{}, wire::FrameLimits{.document_bytes = 64, .depth = 4}}) {
    for (const auto& each : documents<wire::FrameSplitter>(bytes, limits)) check_json_event(each);
    for (const auto& each : documents<wire::ProtobufFrames>(bytes, limits))
      check_protobuf_event(each);
  }
}

}  // namespace
}  // namespace holdfast::sync

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdfast::sync::check_frames(holdfast::test::text_of(data, size));
  return 0;
}
