#include "agent/lab/up/pending.h"

namespace holdfast::agent::lab::up {
namespace {

// The part of the node that an action concerns.
struct PartOf {
  std::string operator()(const Cut& cut) const { return "link of " + cut.target; }
  std::string operator()(const Heal& heal) const { return "link of " + heal.target; }
  std::string operator()(const Degrade& degrade) const { return "quality of " + degrade.target; }
  std::string operator()(const Kill& kill) const { return process(kill.process, kill.target); }
  std::string operator()(const Pause& pause) const { return process(pause.process, pause.target); }
  std::string operator()(const PowerLoss& loss) const { return "power of " + loss.target; }
  std::string operator()(const DiskFull& full) const { return "disk of " + full.target; }
  template <class Other>
  std::string operator()(const Other& /*other*/) const {
    return {};
  }

  static std::string process(Process process, const std::string& target) {
    return "process " + std::to_string(static_cast<int>(process)) + " of " + target;
  }
};

}  // namespace

std::uint64_t PendingEnds::ticket(const Action& action) {
  ++last_;
  latest_[std::visit(PartOf(), action)] = last_;
  return last_;
}

bool PendingEnds::is_valid(const Action& action, std::uint64_t ticket) const {
  const auto found = latest_.find(std::visit(PartOf(), action));
  return found != latest_.end() && found->second == ticket;
}

}  // namespace holdfast::agent::lab::up
