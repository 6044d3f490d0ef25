#include "test/unit/agent/node/fake_sink.h"

#include <gtest/gtest.h>

#include <utility>

#include "sync/wire/codec.h"

namespace holdfast::agent::node::test {

Status FakeSink::next_answer() {
  if (failures.empty()) return {};
  const Error failure = failures.front();
  failures.erase(failures.begin());
  return fail(failure);
}

asio::awaitable<Status> FakeSink::report_status(sync::runtime::PodKey pod, std::string patch) {
  Status answer = next_answer();
  if (!answer) {
    calls.push_back("refused status " + pod.name);
    co_return answer;
  }
  auto object = sync::wire::decode_bytes<sync::Pod>(patch);
  EXPECT_TRUE(object) << object.error().what;
  EXPECT_EQ(object->metadata.uid, pod.uid);
  calls.push_back("status " + pod.name + " " + object->status.phase);
  statuses[pod.name] = std::move(object->status);
  co_return answer;
}

asio::awaitable<Status> FakeSink::record_event(sync::Event event) {
  Status answer = next_answer();
  const std::string& pod = event.involved_object.name;
  calls.push_back((answer ? "event " : "refused event ") + pod + " " + event.reason);
  if (answer) events.push_back(pod + " " + event.reason + " " + event.message);
  co_return answer;
}

asio::awaitable<Status> FakeSink::final_delete(sync::runtime::PodKey pod) {
  Status answer = next_answer();
  calls.push_back((answer ? "delete " : "refused delete ") + pod.name);
  co_return answer;
}

}  // namespace holdfast::agent::node::test
