// Bodies and watch frames made of cached objects, in both encodings.

#include "sync/watch/cached_form.h"

#include <gtest/gtest.h>

#include "sync/objects/protobuf_write.h"
#include "sync/watch/list_body.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"
#include "sync/wire/protobuf/header.h"

namespace holdfast::sync::watch {
namespace {

const wire::ScopeKind json_pods{.kind = "Pod", .api_version = "v1"};
const wire::ScopeKind protobuf_pods{
    .kind = "Pod", .api_version = "v1", .encoding = wire::Encoding::protobuf};
constexpr std::string_view item = R"({"metadata":{"name":"a","resourceVersion":"7"}})";
constexpr std::string_view whole =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"}})";

TEST(CachedForm, AnswersInJson) {
  EXPECT_EQ(cached_form(std::string(whole)).value(), item);
  std::string line(whole);
  line += "\n";
  EXPECT_EQ(object_body(json_pods, item), line);
  EXPECT_EQ(event_frame(json_pods, EventType::deleted, item),
            R"({"type":"DELETED","object":)" + std::string(whole) + "}\n");
  EXPECT_EQ(bookmark_frame(json_pods, 9, true),
            R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":)"
            R"({"resourceVersion":"9","creationTimestamp":null,)"
            R"("annotations":{"k8s.io/initial-events-end":"true"}}}})"
            "\n");
}

TEST(CachedForm, ACustomResourceKeepsItsOwnKind) {
  const wire::ScopeKind noxus{.kind = "NoxuItem",
                              .api_version = "example.com/v1"};  // of a NoxuItemList
  for (const char* version : {"example.com/v1", "gateway.networking.k8s.io/v1"}) {
    const std::string object = R"({"apiVersion":")" + std::string(version) +
                               R"(","kind":"Noxu","metadata":{"name":"a"},"num":1})";
    const std::string kept = cached_form(object).value();
    EXPECT_EQ(kept, object);
    EXPECT_EQ(event_frame(noxus, EventType::added, kept),
              R"({"type":"ADDED","object":)" + object + "}\n");
    EXPECT_EQ(object_body(noxus, kept), object + "\n");
    EXPECT_EQ(
        ListBody(noxus, {.version = 9}, {std::make_shared<const std::string>(kept)}).rest().value(),
        R"({"kind":"NoxuItemList","apiVersion":"example.com/v1","metadata":)"
        R"({"resourceVersion":"9"},"items":[)" +
            object + "]}\n");
  }
  for (const char* version : {"v1", "apps/v1", "storage.k8s.io/v1"}) {
    const std::string object =
        R"({"kind":"X","apiVersion":")" + std::string(version) + R"(","metadata":{}})";
    EXPECT_EQ(cached_form(object).value(), R"({"metadata":{}})") << version;
  }
  EXPECT_FALSE(cached_form(R"({"apiVersion":"example.com/v1","kind":)"));
}

TEST(CachedForm, AnswersInProtobuf) {
  const std::string cached = objects::to_protobuf(whole).value();
  EXPECT_EQ(cached_form(cached).value(), cached);
  EXPECT_EQ(object_body(protobuf_pods, cached), cached);

  const auto frame_of = [](const std::string& frame) {
    return wire::decode_protobuf_event(std::string_view(frame).substr(4)).value();
  };
  const wire::WatchEvent event = frame_of(event_frame(protobuf_pods, EventType::modified, cached));
  EXPECT_EQ(event.type, wire::WatchEvent::Type::modified);
  EXPECT_EQ(event.object, cached);
  const wire::WatchEvent bookmark = frame_of(bookmark_frame(protobuf_pods, 9, true));
  EXPECT_EQ(bookmark.type, wire::WatchEvent::Type::bookmark);
  EXPECT_EQ(bookmark.resource_version, "9");
  const std::string shown = cached_json(protobuf_pods, bookmark.object).value();
  EXPECT_NE(shown.find(R"("k8s.io/initial-events-end":"true")"), std::string::npos) << shown;
}

TEST(CachedForm, AnotherVersionAndAnotherEncoding) {
  const std::string cached = objects::to_protobuf(whole).value();
  for (const std::string& form : {cached, std::string(item)}) {
    const std::string changed = with_version(form, 4611686018427387905U).value();
    EXPECT_EQ(wire::read_any_header(changed)->resource_version, "4611686018427387905");
    EXPECT_EQ(with_version(changed, 7).value(), form);
  }
  EXPECT_EQ(in_encoding(protobuf_pods, std::string(item)).value(), cached);
  EXPECT_EQ(wire::read_any_header(*in_encoding(json_pods, cached))->name, "a");
  EXPECT_FALSE(with_version("k8s", 1).has_value());
  const wire::ScopeKind unknown{
      .kind = "Foo", .api_version = "x/v1", .encoding = wire::Encoding::protobuf};
  EXPECT_EQ(in_encoding(unknown, std::string(item)).error().what, "no kind \"Foo\"");
}

}  // namespace
}  // namespace holdfast::sync::watch
