// Which event may help a pod that a plugin has rejected.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sync/schedule/filter.h"
#include "sync/schedule/queue/event.h"

namespace holdfast::sync::schedule {

enum class Hint : std::uint8_t {
  unrelated,  // the plugin does not care for such events
  skip,       // it does, but this one does not help this pod
  queue,      // it may help
};

class Hints {
 public:
  Hints() = default;
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;
  virtual ~Hints() = default;

  // Whether any plugin cares for such events.
  [[nodiscard]] virtual bool registered(const Event& event) const = 0;
  [[nodiscard]] virtual Hint ask(std::string_view plugin, const PodView& pod,
                                 const Event& event) const = 0;
};

// Those of our plugins. Borrows the cluster for reading nodes' amounts.
class PluginHints final : public Hints {
 public:
  explicit PluginHints(Symbols& symbols) : symbols_(symbols) {}

  [[nodiscard]] bool registered(const Event& event) const override;
  [[nodiscard]] Hint ask(std::string_view plugin, const PodView& pod,
                         const Event& event) const override;

 private:
  [[nodiscard]] bool room_grew(const PodView& pod, const Event& event) const;

  Symbols& symbols_;
};

}  // namespace holdfast::sync::schedule
