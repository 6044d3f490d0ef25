// What arrives in a tunnel: the first byte chooses WebSocket frames or SPDY frames. The result does
// not depend on how the network splits the bytes, limits hold, and a message that is written is
// read back unchanged.

#include "platform/check.h"
#include "platform/http/spdy/frames.h"
#include "platform/http/websocket.h"
#include "test/fuzz/pieces.h"

namespace holdfast::http {
namespace {

constexpr std::size_t message_max = 512;
constexpr spdy::FrameLimits frame_limits{.frame_bytes = 512, .header_bytes = 256};

template <class Reader, class Item>
std::vector<Item> all_of(Reader& reader, const std::vector<std::string_view>& pieces,
                         bool& broken) {
  std::vector<Item> items;
  for (const std::string_view piece : pieces) {
    const Status put = reader.put(piece);
    while (auto item = reader.take()) items.push_back(*std::move(item));
    broken = !put;
    if (broken) break;
  }
  return items;
}

void check_websocket(std::string_view bytes) {
  bool broken = false;
  bool broken_in_pieces = false;
  websocket::Reader whole(message_max);
  websocket::Reader pieced(message_max);
  const auto messages = all_of<websocket::Reader, websocket::Message>(whole, {bytes}, broken);
  const auto others =
      all_of<websocket::Reader, websocket::Message>(pieced, test::pieces(bytes), broken_in_pieces);
  CHECK(broken == broken_in_pieces && messages == others);
  for (const websocket::Message& message : messages) {
    CHECK(message.payload.size() <= message_max);
    websocket::Reader again(message_max);
    CHECK(again.put(websocket::frame(message.opcode, message.payload, "mask")));
    CHECK(again.take() == message);
  }
}

void check_spdy(std::string_view bytes) {
  bool broken = false;
  bool broken_in_pieces = false;
  spdy::FrameReader whole(frame_limits);
  spdy::FrameReader pieced(frame_limits);
  const auto frames = all_of<spdy::FrameReader, spdy::Frame>(whole, {bytes}, broken);
  const auto others =
      all_of<spdy::FrameReader, spdy::Frame>(pieced, test::pieces(bytes), broken_in_pieces);
  CHECK(broken == broken_in_pieces && frames == others);
  for (const spdy::Frame& frame : frames) {
    std::size_t size = 0;
    for (const Header& header : frame.headers) size += header.name.size() + header.value.size();
    CHECK(size <= frame_limits.header_bytes && frame.data.size() <= frame_limits.frame_bytes);
  }
}

}  // namespace
}  // namespace holdfast::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = holdfast::test::text_of(data, size);
  if (text.empty()) return 0;
  if (text.front() == 'w') {
    holdfast::http::check_websocket(text.substr(1));
  } else {
    holdfast::http::check_spdy(text.substr(1));
  }
  return 0;
}
