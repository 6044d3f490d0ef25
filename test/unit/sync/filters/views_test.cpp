// Whole answers and watches through filters, and the facts that filters read from the cache.

#include <gtest/gtest.h>

#include "sync/filters/answers.h"
#include "sync/filters/watch_filter.h"
#include "sync/objects/protobuf.h"
#include "sync/objects/protobuf_write.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/list.h"

namespace holdfast::sync::filters {
namespace {

FilterView view_of(FilterChain chain, std::string pool = "hangzhou") {
  FilterKnowledge known{.node_name = "edge-a", .services = TopologyMap{}};
  known.node_pool = std::move(pool);
  return {std::move(chain), std::make_shared<const FilterKnowledge>(known)};
}

// A service whose annotation names the node pools in which it listens; "": all pools.
std::string service(const std::string& name, const std::string& pools, int version = 1) {
  const std::string annotations =
      pools.empty() ? "" : R"(,"annotations":{"nodeport.openyurt.io/listen":")" + pools + R"("})";
  return R"({"metadata":{"name":")" + name + R"(","namespace":"ns","resourceVersion":")" +
         std::to_string(version) + R"(")" + annotations +
         R"(},"spec":{"ports":[{"port":80,"targetPort":80}],"type":"NodePort"},)"
         R"("status":{"loadBalancer":{}}})";
}

std::string list_of(const std::vector<std::string>& items) {
  const std::vector<std::string_view> views(items.begin(), items.end());
  const wire::ListHead head{.kind = "ServiceList",
                            .api_version = "v1",
                            .resource_version = "9",
                            .continue_token = "t",
                            .remaining_item_count = 3};
  return wire::join_list(head, views) + "\n";
}

TEST(FilteredBody, ListsLoseWhatIsDroppedAndKeepAllElse) {
  const FilterView view = view_of({Filter::node_port_isolation});
  const std::string a = service("a", "");
  const std::string b = service("b", "beijing");
  const std::string c = service("c", "hangzhou");
  const auto of = [&view](const std::string& body) {
    return filter_body(view.chain, *view.knowledge, body).value();
  };
  EXPECT_EQ(of(list_of({a, c})), FilteredBody{});
  EXPECT_EQ(of(list_of({})), FilteredBody{});
  EXPECT_EQ(of(list_of({a, b, c})), (FilteredBody{Effect::changed, list_of({a, c})}));
  EXPECT_EQ(of(list_of({b})), (FilteredBody{Effect::changed, list_of({})}));
  EXPECT_EQ(of(wire::standalone(b, "Service", "v1")).effect, Effect::dropped);
  EXPECT_EQ(of(wire::standalone(a, "Service", "v1")), FilteredBody{});
  EXPECT_EQ(of(R"({"kind":"Status","apiVersion":"v1","code":403})"), FilteredBody{});

  // The same in protobuf.
  const std::string all = objects::to_protobuf(list_of({a, b, c})).value();
  const FilteredBody shown = of(all);
  EXPECT_EQ(shown.effect, Effect::changed);
  const wire::ListBytes before = wire::split_protobuf_list(all).value();
  const wire::ListBytes after = wire::split_protobuf_list(shown.bytes).value();
  EXPECT_EQ(after.head, before.head);
  EXPECT_EQ(after.items, (std::vector<std::string_view>{before.items[0], before.items[2]}));
  EXPECT_EQ(of(objects::to_protobuf(list_of({a, c})).value()), FilteredBody{});
}

TEST(FilteredBody, WhatIsNotKnownOrNotReadableIsNotShown) {
  FilterView view = view_of({Filter::node_port_isolation});
  FilterKnowledge unknown = *view.knowledge;
  unknown.node_pool.reset();
  const auto shown =
      filter_body(view.chain, unknown, list_of({service("a", ""), service("b", "beijing")}));
  EXPECT_EQ(shown->effect, Effect::unknown);
  EXPECT_EQ(shown->need, Need::node);
  const std::string unreadable[] = {
      "",
      "no JSON",
      R"({"kind":"ServiceList","metadata":{}})",
      R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]})",
      R"({"kind":"PartialObjectMetadataList","metadata":{},"items":[]})",
      list_of({"{"})};
  for (const std::string& body : unreadable) {
    EXPECT_FALSE(filter_body(view.chain, *view.knowledge, body)) << body;
  }
  EXPECT_TRUE(filter_body({}, *view.knowledge, "anything"))
      << "without filters the body is not parsed";
}

watch::CacheEvent event(watch::EventType type, const std::string& name, const std::string& pools,
                        int version) {
  return {type,
          {"ns", name},
          {"u", static_cast<objects::Version>(version),
           std::make_shared<const std::string>(service(name, pools, version))}};
}

std::string told(const FilteredEvents& told) {
  if (told.need) return "?";
  std::string text;
  for (const watch::CacheEvent& each : told.events) {
    text +=
        (text.empty() ? "" : " ") + std::string(watch::to_string(each.type)) + " " + each.key.name;
  }
  return text;
}

TEST(WatchFilter, DeletesOnlyWhatTheClientHasSeenAndAddsWhatComesBack) {
  using enum watch::EventType;
  struct Step {
    watch::CacheEvent event;
    std::string told;
  };
  const FilterView view = view_of({Filter::node_port_isolation});
  const Step steps[] = {
      {event(added, "never", "beijing", 10), ""},
      {event(modified, "never", "shanghai", 11), ""},
      {event(deleted, "never", "shanghai", 12), ""},
      {event(added, "never", "", 13), "ADDED never"},
      {event(added, "a", "", 14), "ADDED a"},
      {event(modified, "a", "*", 15), "MODIFIED a"},
      {event(modified, "a", "beijing", 16), "DELETED a"},
      {event(modified, "a", "beijing", 17), ""},
      {event(modified, "a", "hangzhou", 18), "ADDED a"},
      {event(deleted, "a", "hangzhou", 19), "DELETED a"},
      // An object that the client may have seen before its watch.
      {event(modified, "old", "beijing", 20), "DELETED old"},
      {event(modified, "old", "", 21), "ADDED old"},
      {event(deleted, "gone", "beijing", 22), "DELETED gone"},
  };
  WatchFilter filter;
  for (const Step& step : steps) {
    EXPECT_EQ(told(filter.filter_event(view, step.event).value()), step.told)
        << **step.event.object.bytes.load();
  }
}

watch::WatchCache::Objects objects(const std::vector<watch::CacheEvent>& events) {
  watch::WatchCache::Objects made;
  for (const watch::CacheEvent& each : events) made[each.key] = each.object;
  return made;
}

TEST(WatchFilter, GoesOnFromAListThatWasFiltered) {
  using enum watch::EventType;
  const FilterView view = view_of({Filter::node_port_isolation});
  const auto listed = objects({event(added, "hidden", "beijing", 5), event(added, "seen", "", 6),
                               event(added, "later", "beijing", 12)});
  WatchFilter filter;
  EXPECT_EQ(filter.resume(view, listed, 10).value(), std::nullopt);
  EXPECT_EQ(told(filter.filter_event(view, event(modified, "hidden", "beijing", 11)).value()), "");
  EXPECT_EQ(told(filter.filter_event(view, event(modified, "later", "beijing", 12)).value()),
            "DELETED later")
      << "the client may have seen its state at version 10";
  EXPECT_EQ(told(filter.filter_event(view, event(modified, "hidden", "", 13)).value()),
            "ADDED hidden");
  EXPECT_EQ(told(filter.filter_event(view, event(modified, "seen", "beijing", 14)).value()),
            "DELETED seen");

  FilterKnowledge unknown = *view.knowledge;
  unknown.node_pool.reset();
  const FilterView blind{view.chain, std::make_shared<const FilterKnowledge>(unknown)};
  EXPECT_EQ(filter.resume(blind, listed, 10).value(), Need::node);
  EXPECT_EQ(told(filter.filter_event(blind, event(added, "new", "", 15)).value()), "ADDED new");
  EXPECT_EQ(told(filter.filter_event(blind, event(added, "which", "beijing", 16)).value()), "?");
}

TEST(WatchFilter, HoldsBackADeletionWhoseObjectCannotBeFilteredYet) {
  using enum watch::EventType;
  const FilterView view = view_of({Filter::node_port_isolation});
  FilterKnowledge unknown = *view.knowledge;
  unknown.node_pool.reset();
  const FilterView blind{view.chain, std::make_shared<const FilterKnowledge>(unknown)};
  WatchFilter filter;
  EXPECT_EQ(told(filter.filter_event(view, event(added, "seen", "", 10)).value()), "ADDED seen");
  EXPECT_EQ(told(filter.filter_event(view, event(added, "hidden", "beijing", 11)).value()), "");

  const watch::CacheEvent gone = event(deleted, "seen", "beijing", 12);
  const FilteredEvents held = filter.filter_event(blind, gone).value();
  EXPECT_EQ(held.need, Need::node);
  EXPECT_TRUE(held.events.empty()) << "the object would leave unfiltered";
  EXPECT_EQ(told(filter.filter_event(view, gone).value()), "DELETED seen");

  EXPECT_EQ(told(filter.filter_event(blind, event(deleted, "hidden", "beijing", 13)).value()), "")
      << "the client has never seen it, so nothing must be known";
  EXPECT_EQ(told(filter.filter_event(view, event(added, "hidden", "", 14)).value()),
            "ADDED hidden");
}

TEST(WatchFilter, TellsAgainWhatLooksOtherwiseSinceMoreIsKnown) {
  using enum watch::EventType;
  const FilterView before = view_of({Filter::node_port_isolation});
  const FilterView after = view_of({Filter::node_port_isolation}, "beijing");
  const auto all = objects({event(added, "both", "*", 1), event(added, "new", "beijing", 2),
                            event(added, "old", "hangzhou", 3), event(added, "to-come", "x", 9)});
  WatchFilter filter;
  EXPECT_EQ(filter.resume(before, all, 5).value(), std::nullopt);
  EXPECT_EQ(told(filter.reconsider(before, before, all, 5).value()), "");
  EXPECT_EQ(told(filter.reconsider(before, after, all, 5).value()), "ADDED new DELETED old");
  EXPECT_EQ(told(filter.reconsider(after, after, all, 5).value()), "");
  EXPECT_EQ(told(filter.reconsider(after, before, all, 5).value()), "DELETED new ADDED old");
}

watch::WatchCache cache_of(const wire::ScopeKind& kind, const std::vector<std::string>& items) {
  watch::WatchCache::Objects made;
  int count = 0;
  for (const std::string& item : items) {
    const std::string name = "o" + std::to_string(++count);
    std::string bytes = item;
    if (kind.encoding == wire::Encoding::protobuf) {
      bytes = objects::to_protobuf(wire::standalone(item, kind.kind, kind.api_version)).value();
    }
    const bool cluster = kind.kind != "Service";
    made[{cluster ? "" : "ns", cluster && count == 1 ? "first" : name}] = {
        "u", 1, std::make_shared<const std::string>(std::move(bytes))};
  }
  watch::WatchCache cache;
  cache.restore(std::move(made), 5, kind);
  return cache;
}

TEST(FilterKnowledge, IsReadFromTheCluster) {
  const auto annotated = [](const std::string& value) {
    return R"({"metadata":{"name":"s","namespace":"ns","annotations":)"
           R"({"openyurt.io/topologyKeys":")" +
           value + R"("}},"spec":{},"status":{"loadBalancer":{}}})";
  };
  for (const wire::Encoding encoding : {wire::Encoding::json, wire::Encoding::protobuf}) {
    const watch::WatchCache services = cache_of(
        {"Service", "v1", encoding},
        {annotated("kubernetes.io/hostname"), annotated("openyurt.io/nodepool"),
         annotated("kubernetes.io/zone"), annotated("kubernetes.io/hostname,*"), annotated(""),
         R"({"metadata":{"name":"s","namespace":"ns"},"spec":{},"status":{"loadBalancer":{}}})"});
    std::vector<std::string> warnings;
    EXPECT_EQ(topologies_of(services, warnings), (TopologyMap{{{"ns", "o1"}, Topology::node},
                                                              {{"ns", "o2"}, Topology::pool},
                                                              {{"ns", "o3"}, Topology::pool}}));
    EXPECT_EQ(warnings,
              std::vector<std::string>{"service ns/o4: openyurt.io/topologyKeys: "
                                       "\"kubernetes.io/hostname,*\" is not a known topology"});
    const watch::WatchCache nodes = cache_of(
        {"Node", "v1", encoding},
        {R"({"metadata":{"name":"first","labels":{"apps.openyurt.io/nodepool":"hangzhou"}}})",
         R"({"metadata":{"name":"o2"}})"});
    EXPECT_EQ(pool_of(nodes, "first"), "hangzhou");
    EXPECT_EQ(pool_of(nodes, "o2"), "");
    EXPECT_EQ(pool_of(nodes, "absent"), "");
  }
  const watch::WatchCache pools =
      cache_of({"NodePool", "apps.openyurt.io/v1beta2"},
               {R"({"metadata":{"name":"first"},"status":{"nodes":["edge-a","edge-b",7,""]}})",
                R"({"metadata":{"name":"o2"},"status":{"nodes":"x"}})", "{"});
  EXPECT_EQ(nodes_of_pool(pools, "first"), (std::set<std::string>{"edge-a", "edge-b"}));
  EXPECT_EQ(nodes_of_pool(pools, "o2"), std::set<std::string>{});
  EXPECT_EQ(nodes_of_pool(pools, "o3"), std::set<std::string>{});
  EXPECT_EQ(nodes_of_pool(pools, "absent"), std::set<std::string>{});
  const auto bucket = [](const std::string& pool, const std::string& nodes) {
    return R"({"metadata":{"name":"b","labels":{"openyurt.io/pool-name":")" + pool +
           R"("}},"nodes":)" + nodes + "}";
  };
  const watch::WatchCache buckets =
      cache_of({"NodeBucket", "apps.openyurt.io/v1alpha1"},
               {bucket("hangzhou", R"([{"name":"edge-a"}])"),
                bucket("hangzhou", R"([{"name":"c"},1])"), bucket("beijing", R"([{"name":"x"}])")});
  EXPECT_EQ(nodes_of_buckets(buckets, "hangzhou"), (std::set<std::string>{"c", "edge-a"}));
}

TEST(Knowledge, OfLostBytesIsNoKnowledge) {
  struct Lost final : watch::BodyPlace {
    [[nodiscard]] Result<std::string> read() const override { return fail(Errc::corrupt, "lost"); }
  };
  watch::WatchCache cache = cache_of({"Node", "v1"}, {R"({"metadata":{"name":"first"}})"});
  for (const auto& [key, object] : cache.objects()) {
    watch::Body bytes = object.bytes;  // the same body
    bytes.move_to(std::make_unique<Lost>());
  }
  std::vector<std::string> warnings;
  EXPECT_EQ(topologies_of(cache, warnings), std::nullopt);
  EXPECT_EQ(pool_of(cache, "first"), std::nullopt);
  EXPECT_EQ(pool_of(cache, "absent"), "");
  EXPECT_EQ(nodes_of_pool(cache, "first"), std::nullopt);
  EXPECT_EQ(nodes_of_buckets(cache, "any"), std::nullopt);
  EXPECT_EQ(warnings, std::vector<std::string>{});
}

}  // namespace
}  // namespace holdfast::sync::filters
