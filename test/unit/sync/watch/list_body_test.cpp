// The body of a list answer: byte for byte what an API server sends, in pieces that share the
// cached objects.

#include "sync/watch/list_body.h"

#include <gtest/gtest.h>

#include "sync/objects/protobuf_write.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/list.h"

namespace holdfast::sync::watch {
namespace {

const wire::ScopeKind listed_pods{.kind = "Pod", .api_version = "v1"};
const ListPart listed_part{.version = 9, .continue_token = "c", .remaining_item_count = 2};

Bytes listed_pod(wire::Encoding encoding, int number, std::size_t padding) {
  const std::string rest = R"("metadata":{"name":"p)" + std::to_string(number) +
                           R"(","labels":{"a":")" + std::string(padding, 'x') + R"("}}})";
  if (encoding == wire::Encoding::json) return std::make_shared<const std::string>("{" + rest);
  return std::make_shared<const std::string>(
      objects::to_protobuf(R"({"kind":"Pod","apiVersion":"v1",)" + rest).value());
}

TEST(ListBody, IsTheListOfAnApiServer) {
  const Bytes pod = std::make_shared<const std::string>(R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(ListBody(listed_pods, listed_part, {pod, pod}).rest().value(),
            R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9",)"
            R"("continue":"c","remainingItemCount":2},"items":[)"
            R"({"metadata":{"name":"a"}},{"metadata":{"name":"a"}}]})"
            "\n");
  // The bytes of `kubectl get --raw` with the Accept header of protobuf: a runtime.Unknown with the
  // type, the PodList and two empty fields. The PodList has its metadata and one empty Pod.
  wire::ScopeKind kind = listed_pods;
  kind.encoding = wire::Encoding::protobuf;
  const Bytes empty = std::make_shared<const std::string>(wire::enveloped("v1", "Pod", ""));
  const std::string_view expected(
      "k8s\0"
      "\x0a\x0d\x0a\x02v1\x12\x07PodList"
      "\x12\x0b\x0a\x07\x0a\0\x12\x01\x39\x1a\0\x12\0"
      "\x1a\0\x22\0",
      36);
  EXPECT_EQ(ListBody(kind, {.version = 9}, {empty}).rest().value(), expected);
}

TEST(ListBody, ItsPiecesAreTheWholeInAnySize) {
  for (const wire::Encoding encoding : {wire::Encoding::json, wire::Encoding::protobuf}) {
    for (const int count : {0, 1, 2, 300}) {
      for (const std::size_t padding : {0UL, 100UL, 20'000UL}) {
        std::vector<Bytes> bytes_of;
        for (int i = 0; i < count; ++i) bytes_of.push_back(listed_pod(encoding, i, padding));
        const std::vector<Body> items(bytes_of.begin(), bytes_of.end());
        wire::ScopeKind kind = listed_pods;
        kind.encoding = encoding;
        const std::string whole = ListBody(kind, listed_part, items).rest().value();
        const auto list = encoding == wire::Encoding::json ? wire::split_list(whole)
                                                           : wire::split_protobuf_list(whole);
        ASSERT_TRUE(list) << list.error().what;
        EXPECT_EQ(list->head, (wire::ListHead{.kind = "PodList",
                                              .api_version = "v1",
                                              .resource_version = "9",
                                              .continue_token = "c",
                                              .remaining_item_count = 2}));
        ASSERT_EQ(list->items.size(), items.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
          const std::string_view bytes = encoding == wire::Encoding::json
                                             ? *bytes_of[i]
                                             : wire::open_envelope(*bytes_of[i])->raw;
          EXPECT_EQ(list->items[i], bytes);
        }
        for (const std::size_t size :
             std::initializer_list<std::size_t>{1, 200, 64UL * 1024, whole.size(), 1UL << 30}) {
          ListBody body(kind, listed_part, items);
          EXPECT_EQ(body.size(), whole.size());
          std::string joined;
          for (std::string piece = body.next(size).value(); !piece.empty();
               piece = body.next(size).value()) {
            EXPECT_LE(piece.size(), size + padding + 300);
            joined += piece;
          }
          EXPECT_EQ(joined, whole) << count << " items of " << padding << " in pieces of " << size;
          EXPECT_EQ(body.next().value(), "");
        }
      }
    }
  }
}

TEST(ListBody, ReleasesTheItemsThatWereReturned) {
  std::vector<Body> items;
  for (int i = 0; i < 3; ++i) items.push_back(listed_pod(wire::Encoding::json, i, 1000));
  ListBody body(listed_pods, listed_part, items);
  const auto holders = [&items] {
    std::vector<long> counts;
    for (const Body& item : items) counts.push_back(item.use_count());
    return counts;
  };
  EXPECT_EQ(holders(), (std::vector<long>{2, 2, 2}));
  (void)body.next(1000);
  EXPECT_EQ(holders(), (std::vector<long>{1, 2, 2}));
  (void)body.rest();
  EXPECT_EQ(holders(), (std::vector<long>{1, 1, 1}));
}

}  // namespace
}  // namespace holdfast::sync::watch
