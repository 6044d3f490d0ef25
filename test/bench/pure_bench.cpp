// The cost of the pure functions that run for every object or event.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "sync/watch/watch_cache.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/object_header.h"

namespace holdfast::bench {
namespace {

std::string pod(int number) {
  return R"({"metadata":{"name":"pod-)" + std::to_string(number) +
         R"(","namespace":"default","uid":"u","resourceVersion":"7"},"spec":{"nodeName":"n",)" +
         R"("containers":[{"name":"main","image":"pause"}]},"status":{"phase":"Running"}})";
}

std::string list_of(int count) {
  std::vector<std::string> items;
  for (int i = 0; i < count; ++i) items.push_back(pod(i));
  const std::vector<std::string_view> views(items.begin(), items.end());
  const sync::wire::ListHead head{.kind = "PodList", .api_version = "v1", .resource_version = "7"};
  return sync::wire::join_list(head, views);
}

void split_list(benchmark::State& state) {
  const std::string list = list_of(110);
  for (auto _ : state) benchmark::DoNotOptimize(sync::wire::split_list(list));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(list.size()));
}
BENCHMARK(split_list);

void read_header(benchmark::State& state) {
  const std::string item = pod(1);
  for (auto _ : state) benchmark::DoNotOptimize(sync::wire::read_header(item));
}
BENCHMARK(read_header);

void apply_event(benchmark::State& state) {
  sync::watch::WatchCache cache;
  (void)cache.replace({}, 1, {"Pod", "v1"});
  const auto bytes = std::make_shared<const std::string>(pod(1));
  sync::objects::Version version = 1;
  for (auto _ : state) {
    const bool applied =
        cache.apply({.type = sync::watch::EventType::modified,
                     .key = {"default", "pod-1"},
                     .object = {.uid = "u", .version = ++version, .bytes = bytes}});
    benchmark::DoNotOptimize(applied);
  }
}
BENCHMARK(apply_event);

}  // namespace
}  // namespace holdfast::bench
