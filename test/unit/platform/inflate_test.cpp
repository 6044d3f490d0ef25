// gzip bodies: complete, in pieces, with several members, damaged, and too large.

#include "platform/http/inflate.h"

#include <zlib.h>

#include "test/support/run.h"

namespace holdfast::http {
namespace {

std::string gzip(std::string_view plain, int level = 1) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string from(plain);
  std::string out(deflateBound(&stream, from.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(from.data());
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  (void)deflateEnd(&stream);
  return out;
}

// Text that compresses like lists of objects.
std::string list_text(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) {
    text += R"({"metadata":{"name":"pod-)" + std::to_string(i * 7919) + R"("},"spec":{}},)";
  }
  text.resize(bytes);
  return text;
}

// Feeds `compressed` in pieces of `step` bytes.
Result<std::string> in_pieces(const std::string& compressed, std::size_t step,
                              const InflateLimits& limits = {}) {
  Inflater inflater(limits);
  std::string all;
  for (std::size_t at = 0; at < compressed.size(); at += step) {
    inflater.give(compressed.substr(at, step));
    for (;;) {
      TRY(const std::string piece, inflater.next());
      EXPECT_LE(piece.size(), limits.piece_bytes);
      if (piece.empty()) break;
      all += piece;
    }
  }
  if (auto whole = inflater.finish(); !whole) return fail(whole.error());
  return all;
}

TEST(Inflate, GivesBackWhatWasCompressedHoweverItIsCut) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{70000}}) {
    const std::string plain = list_text(size);
    const std::string compressed = gzip(plain);
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
      const auto whole = in_pieces(compressed, step, {.piece_bytes = 1000});
      ASSERT_TRUE(whole) << whole.error().what;
      EXPECT_EQ(*whole, plain);
    }
    EXPECT_EQ(*inflate(compressed), plain);
  }
}

TEST(Inflate, ReadsMembersOneAfterTheOther) {
  const std::string compressed = gzip("one,") + gzip("") + gzip("two");
  EXPECT_EQ(*inflate(compressed), "one,two");
  EXPECT_EQ(*in_pieces(compressed, 1), "one,two");
}

TEST(Inflate, RefusesEveryTruncation) {
  const std::string compressed = gzip(list_text(500));
  for (std::size_t size = 0; size < compressed.size(); ++size) {
    const auto whole = inflate(compressed.substr(0, size));
    ASSERT_FALSE(whole) << size;
    EXPECT_EQ(whole.error().code, Errc::corrupt);
  }
}

// The checksum and the length at the end cover the text; some bytes of the header have no meaning.
TEST(Inflate, RefusesEveryFlippedBitOrGivesTheSameText) {
  const std::string plain = list_text(300);
  const std::string compressed = gzip(plain);
  for (std::size_t bit = 0; bit < compressed.size() * 8; ++bit) {
    std::string flipped = compressed;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto whole = inflate(flipped, {.body_bytes = 1UL << 20});
    if (whole) {
      EXPECT_EQ(*whole, plain) << bit;
    }
  }
}

TEST(Inflate, RefusesWhatFollowsTheLastMember) {
  EXPECT_EQ(inflate(gzip("a") + "trailer").error().code, Errc::corrupt);
  EXPECT_EQ(inflate("plain text").error().code, Errc::corrupt);
}

TEST(Inflate, RefusesABombAtItsLimit) {
  const std::string bomb = gzip(std::string(32UL << 20, 'a'), 9);
  ASSERT_LT(bomb.size(), 64UL << 10);
  const auto whole = inflate(bomb, {.body_bytes = 1UL << 20});
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().code, Errc::exhausted);
  EXPECT_EQ(whole.error().what, "gzip: the body is larger than 1048576 bytes");
  // A body of exactly the limit is accepted.
  const std::string fits = gzip(std::string(1UL << 20, 'a'));
  EXPECT_EQ(inflate(fits, {.body_bytes = 1UL << 20})->size(), 1UL << 20);
}

class Pieces final : public BodyStream {
 public:
  explicit Pieces(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  asio::awaitable<Result<std::string>> next() override {
    if (at_ == pieces_.size()) co_return std::string();
    co_return pieces_[at_++];
  }
  void cancel() override { cancelled = true; }
  bool cancelled = false;

 private:
  std::vector<std::string> pieces_;
  std::size_t at_ = 0;
};

Result<std::string> whole_of(const std::shared_ptr<BodyStream>& stream) {
  Result<std::string> all;
  test::run([&all, stream](asio::io_context&) -> asio::awaitable<void> {
    for (;;) {
      auto piece = co_await stream->next();
      if (!piece) all = fail(piece.error());
      if (!piece || piece->empty()) co_return;
      *all += *piece;
    }
  });
  return all;
}

TEST(Inflate, MakesAStreamPlainAndCountsItsWireBytes) {
  const std::string plain = list_text(200000);
  const std::string compressed = gzip(plain);
  Response response;
  response.headers = {{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}};
  response.stream = std::make_shared<Pieces>(std::vector<std::string>{
      compressed.substr(0, 10), compressed.substr(10, 1), compressed.substr(11)});
  auto made = inflated(std::move(response));
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->headers.has("Content-Encoding"));
  const auto whole = whole_of(made->stream);
  ASSERT_TRUE(whole);
  EXPECT_EQ(*whole, plain);
  EXPECT_EQ(*made->wire_bytes, compressed.size());
}

TEST(Inflate, LeavesAnswersWithoutABodyAlone) {
  for (const int status : {204, 304}) {
    Response response;
    response.status = status;
    response.headers = {{"Content-Encoding", "gzip"}, {"Etag", "1"}};
    response.stream = std::make_shared<Pieces>(std::vector<std::string>{});
    const auto made = inflated(response);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->stream, response.stream);
    EXPECT_EQ(made->headers, response.headers);
  }
}

TEST(Inflate, IsAskedForAsKubeApiserverUnderstandsIt) {
  const struct {
    const char* header;
    bool asks;
  } rows[] = {{"gzip", true},      {"deflate, gzip", true}, {"gzip , br", true},   {"", false},
              {"identity", false}, {"gzip;q=0", false},     {"gzip;q=0.5", false}, {"*", false},
              {"xgzip", false},    {"deflate,br", false}};
  for (const auto& row : rows) {
    EXPECT_EQ(asks_for_gzip({{"accept-encoding", row.header}}), row.asks) << row.header;
  }
  EXPECT_FALSE(asks_for_gzip({}));
}

TEST(WireBytes, AreThoseThatHaveArrivedSinceTheLastCall) {
  Response plain;
  WireBytes of_plain(plain);
  EXPECT_EQ(of_plain.arrived(70), 70u);
  EXPECT_EQ(of_plain.arrived(0), 0u);
  Response compressed;
  compressed.wire_bytes = std::make_shared<std::size_t>(5);
  WireBytes of_compressed(compressed);
  EXPECT_EQ(of_compressed.arrived(70), 0u) << "from bytes that were counted before";
  *compressed.wire_bytes = 30;
  EXPECT_EQ(of_compressed.arrived(900), 25u);
  EXPECT_EQ(of_compressed.arrived(900), 0u);
}

TEST(Inflate, GivesUpTheStreamOfABomb) {
  auto pieces = std::make_shared<Pieces>(
      std::vector<std::string>{gzip(std::string(4UL << 20, 'a'), 9), "never read"});
  Response response;
  response.headers = {{"Content-Encoding", "GZIP"}};
  response.stream = pieces;
  auto made = inflated(std::move(response), {.body_bytes = 1UL << 20});
  ASSERT_TRUE(made);
  const auto whole = whole_of(made->stream);
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().code, Errc::exhausted);
  EXPECT_TRUE(pieces->cancelled);
}

}  // namespace
}  // namespace holdfast::http
