// Watches all objects of a kind in the API server, decoded.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/client/list_watch.h"
#include "sync/model/types.h"
#include "sync/wire/codec.h"

namespace holdfast::agent::lab::cluster {

namespace asio = boost::asio;

// Passes decoded objects on: all of them after a list, then each changed one.
template <class T>
class ObjectSink final : public ListWatchSink {
 public:
  using OnAll = std::function<void(const std::vector<T>&)>;
  using OnOne = std::function<void(const T&, bool gone)>;
  ObjectSink(OnAll on_all, OnOne on_one) : on_all_(std::move(on_all)), on_one_(std::move(on_one)) {}

  void replace(std::vector<std::string> items, const std::string& /*version*/,
               const sync::wire::ScopeKind& /*kind*/) override {
    std::vector<T> all;
    for (const std::string& item : items) {
      auto object = sync::wire::decode_bytes<T>(item);
      if (object) all.push_back(*std::move(object));
    }
    on_all_(all);
  }
  void apply(const sync::wire::WatchEvent& event) override {
    const auto object = sync::wire::decode_bytes<T>(event.object);
    if (object) on_one_(*object, event.type == sync::wire::WatchEvent::Type::deleted);
  }
  void bookmark(const std::string& /*version*/) override {}

 private:
  OnAll on_all_;
  OnOne on_one_;
};

// Watches until the task is cancelled. `client` and `clock` outlive it.
asio::awaitable<void> watch_target(ApiClient& client, const Clock& clock, ListWatchTarget target,
                                   std::unique_ptr<ListWatchSink> sink);

// The same for all objects of a path, decoded. `labels` is a label selector. This is not a
// coroutine itself: GCC gives the fields of a coroutine's frame other names in each file, and the
// linker warns that the frames of one template differ.
template <class T>
asio::awaitable<void> watch_objects(ApiClient& client, const Clock& clock, std::string path,
                                    typename ObjectSink<T>::OnAll on_all,
                                    typename ObjectSink<T>::OnOne on_one, std::string labels = {}) {
  return watch_target(client, clock, {.path = std::move(path), .label_selector = std::move(labels)},
                      std::make_unique<ObjectSink<T>>(std::move(on_all), std::move(on_one)));
}

// The same, where the objects of a list are passed on one by one.
template <class T, class Note>
asio::awaitable<void> watch_each(ApiClient& client, const Clock& clock, std::string path, Note note,
                                 std::string labels = {}) {
  auto on_all = [note](const std::vector<T>& all) {
    for (const T& object : all) note(object, false);
  };
  return watch_objects<T>(client, clock, std::move(path), on_all, note, std::move(labels));
}

}  // namespace holdfast::agent::lab::cluster
