// Queueing hints: whether an event may help a pod that a plugin has rejected.

#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "sync/schedule/filter.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/queue/event.h"

namespace holdfast::sync::schedule {

enum class Hint : std::uint8_t {
  unrelated,  // events of this kind never help against the plugin
  skip,       // they may, but this event does not help this pod
  queue,      // the event may help
};

class Hints {
 public:
  Hints() = default;
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;
  virtual ~Hints() = default;

  // Whether events of this kind may help against any plugin.
  [[nodiscard]] virtual bool registered(const Event& event) const = 0;
  [[nodiscard]] virtual Hint ask(std::string_view plugin, const PodView& pod,
                                 const Event& event) const = 0;
};

// The hints of the plugins in filters/ and of extenders. Borrows the cluster's symbols to read
// resource amounts.
class PluginHints final : public Hints {
 public:
  explicit PluginHints(Symbols& symbols, FitOptions fit = {})
      : symbols_(symbols), fit_(std::move(fit)) {}

  [[nodiscard]] bool registered(const Event& event) const override;
  [[nodiscard]] Hint ask(std::string_view plugin, const PodView& pod,
                         const Event& event) const override;

 private:
  [[nodiscard]] bool room_grew(const PodView& pod, const Event& event) const;

  Symbols& symbols_;
  FitOptions fit_;
};

}  // namespace holdfast::sync::schedule
