#include "sync/schedule/contact.h"

#include <algorithm>

#include "sync/lifecycle/autonomy.h"
#include "sync/objects/names.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {
namespace {

class Contact final : public Filter {
 public:
  Contact() : Filter(plugin_contact) {}
  FitStatus check(const Trial& trial, std::span<const int>) const override {
    if (!is_autonomous_out_of_contact(*trial.node().node)) return {};
    return reject(Code::unresolvable, std::string(reason_contact));
  }
};

}  // namespace

bool is_out_of_contact(const Node& node) {
  const NodeCondition* ready = find_condition(node.status, objects::condition_ready);
  if (ready != nullptr && ready->status == objects::status_unknown) return true;
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(),
                     [](const Taint& taint) { return taint.key == objects::taint_unreachable; });
}

bool is_autonomous_out_of_contact(const Node& node) {
  return is_out_of_contact(node) && lifecycle::autonomy_of(node.metadata.annotations).wanted;
}

Plugin node_contact() {
  return {plugin_contact, [](const Cluster&, const PodView&) {
            return Prepared{std::make_unique<Contact>(), {}};
          }};
}

}  // namespace holdfast::sync::schedule
