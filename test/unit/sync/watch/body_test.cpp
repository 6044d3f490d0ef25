// Bodies of cached objects, in memory and elsewhere.

#include "sync/watch/body.h"

#include <gtest/gtest.h>

#include "sync/watch/list_body.h"
#include "sync/wire/protobuf/envelope.h"

namespace holdfast::sync::watch {
namespace {

// A place whose content a test changes.
struct FakePlace final : BodyPlace {
  explicit FakePlace(const std::string& bytes_there) : there(bytes_there) {}
  [[nodiscard]] Result<std::string> read() const override {
    if (there.empty()) return fail(Errc::gone, "nothing is there");
    return there;
  }
  const std::string& there;
};

Body in_memory(const std::string& text) { return std::make_shared<const std::string>(text); }

std::string loaded(const Body& body) {
  const auto bytes = body.load();
  return bytes ? **bytes : std::string(to_string(bytes.error().code));
}

TEST(Body, IsReadFromItsPlaceEachTime) {
  std::string there = "{\"a\":1}";
  Body body = in_memory(there);
  const Body copy = body;
  EXPECT_TRUE(body.is_in_memory());
  EXPECT_EQ(body.memory_bytes(), 7u);
  body.move_to(std::make_unique<FakePlace>(there));
  for (const Body& each : {body, copy}) {
    EXPECT_FALSE(each.is_in_memory()) << "a copy is the same body";
    EXPECT_EQ(each.size(), 7u);
    EXPECT_EQ(each.memory_bytes(), 0u);
    EXPECT_EQ(loaded(each), there);
  }
  there = "{\"a\":2}";
  EXPECT_EQ(loaded(body), there) << "nothing of it stayed in memory";
  there = "{\"a\":22}";
  EXPECT_EQ(loaded(body), "corrupt") << "other bytes";
  there.clear();
  EXPECT_EQ(loaded(body), "gone");
  EXPECT_EQ(loaded(Body()), "");
}

TEST(Body, IsTakenBackBeforeItsPlaceIsUsedAnew) {
  std::string there = "old";
  Body body = in_memory(there);
  body.move_to(std::make_unique<FakePlace>(there));
  body.take_back();
  there = "new";
  EXPECT_EQ(loaded(body), "old");
  EXPECT_EQ(body.memory_bytes(), 3u);
  // What cannot be read is lost, also if other bytes of its size come to its place.
  Body lost = in_memory("xyz");
  std::string nothing;
  lost.move_to(std::make_unique<FakePlace>(nothing));
  lost.take_back();
  nothing = "abc";
  EXPECT_EQ(loaded(lost), "gone");
  EXPECT_FALSE(lost.is_in_memory());
}

TEST(Body, SeemsEqualAsFarAsThatIsKnown) {
  std::string there = "abc";
  Body elsewhere = in_memory(there);
  elsewhere.move_to(std::make_unique<FakePlace>(there));
  EXPECT_TRUE(in_memory("abc").seems_equal(in_memory("abc")));
  EXPECT_FALSE(in_memory("abc").seems_equal(in_memory("abd")));
  EXPECT_TRUE(elsewhere.seems_equal(in_memory("abd"))) << "only the size is known";
  EXPECT_FALSE(elsewhere.seems_equal(in_memory("abcd")));
  EXPECT_FALSE(in_memory("abc") == in_memory("abc")) << "two bodies";
}

TEST(Body, AListOfBodiesElsewhereIsTheSameList) {
  for (const bool protobuf : {false, true}) {
    SCOPED_TRACE(protobuf);
    std::vector<std::string> texts;
    for (int i = 0; i < 20; ++i) {
      const std::string name(static_cast<std::size_t>(i) + 1, 'n');
      texts.push_back(protobuf
                          ? wire::enveloped("v1", "Pod", "\x0a" + std::string(1, '\x02') + "\x0a")
                          : R"({"metadata":{"name":")" + name + R"("}})");
    }
    std::vector<Body> here;
    std::vector<Body> elsewhere;
    for (const std::string& text : texts) {
      here.push_back(in_memory(text));
      elsewhere.push_back(in_memory(text));
      elsewhere.back().move_to(std::make_unique<FakePlace>(text));
    }
    wire::ScopeKind kind{"Pod", "v1"};
    if (protobuf) kind.encoding = wire::Encoding::protobuf;
    const std::string expected = ListBody(kind, {.version = 9}, here).rest().value();
    ListBody list(kind, {.version = 9}, elsewhere);
    EXPECT_EQ(list.size(), expected.size());
    EXPECT_EQ(list.memory_bytes(), 0u);
    EXPECT_EQ(list.rest().value(), expected);
    // It ends with an error where one cannot be read.
    ListBody broken(kind, {.version = 9}, elsewhere);
    texts.back().clear();
    EXPECT_TRUE(broken.next(1));
    const auto rest = broken.rest();
    ASSERT_FALSE(rest);
    EXPECT_EQ(rest.error().code, Errc::gone);
  }
}

}  // namespace
}  // namespace holdfast::sync::watch
