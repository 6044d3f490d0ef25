#include "sync/schedule/pod_view.h"

#include <algorithm>

#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {
namespace {

std::vector<HostPort> host_ports_of(const PodSpec& spec) {
  std::vector<HostPort> ports;
  for (const Container& container : spec.containers) {
    for (const ContainerPort& port : container.ports) {
      if (port.host_port <= 0) continue;
      ports.push_back({port.host_ip.empty() ? "0.0.0.0" : port.host_ip,
                       port.protocol.empty() ? "TCP" : port.protocol, port.host_port});
    }
  }
  return ports;
}

void note(PodView& view, std::string_view plugin, const std::string& problem) {
  if (!view.problem.empty()) return;
  view.problem = problem;
  view.problem_plugin = plugin;
}

void compile_all(const std::vector<PodAffinityTerm>& terms, std::string_view field, PodView& view,
                 std::vector<AffinityTerm>& out) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    auto term = compile(terms[i], view.pod->metadata);
    if (term) {
      out.push_back(std::move(*term));
    } else {
      note(view, plugin_pod_affinity,
           "spec.affinity." + std::string(field) + "[" + std::to_string(i) +
               "]: " + term.error().what);
    }
  }
}

void read_terms(PodView& view) {
  const Boxed<Affinity>& affinity = view.pod->spec.affinity;
  if (!affinity || (!affinity->pod_affinity && !affinity->pod_anti_affinity)) return;
  auto terms = std::make_unique<PodTerms>();
  if (affinity->pod_affinity) {
    compile_all(affinity->pod_affinity->required, "podAffinity", view, terms->affinity);
  }
  if (affinity->pod_anti_affinity) {
    compile_all(affinity->pod_anti_affinity->required, "podAntiAffinity", view,
                terms->anti_affinity);
  }
  if (!terms->affinity.empty() || !terms->anti_affinity.empty()) view.terms = std::move(terms);
}

const std::vector<AffinityTerm> no_terms;
const std::vector<ClaimUse> no_claims;

void read_volumes(PodView& view) {
  PodVolumes found;
  for (const PodVolume& volume : view.pod->spec.volumes) {
    if (volume.persistent_volume_claim) {
      found.claims.push_back({volume.persistent_volume_claim->claim_name, false});
    } else if (volume.ephemeral) {
      found.claims.push_back({view.name() + "-" + volume.name, true});
    } else if (volume.gce_persistent_disk || volume.aws_elastic_block_store || volume.iscsi ||
               volume.rbd) {
      found.disks.push_back(&volume);
    }
  }
  if (found.claims.empty() && found.disks.empty()) return;
  view.volumes = std::make_unique<PodVolumes>(std::move(found));
}

}  // namespace

bool HostPort::conflicts(const HostPort& other) const {
  if (port != other.port || protocol != other.protocol) return false;
  return ip == other.ip || ip == "0.0.0.0" || other.ip == "0.0.0.0";
}

const std::vector<AffinityTerm>& PodView::affinity() const {
  return terms ? terms->affinity : no_terms;
}

const std::vector<AffinityTerm>& PodView::anti_affinity() const {
  return terms ? terms->anti_affinity : no_terms;
}

const std::vector<ClaimUse>& PodView::claims() const {
  return volumes ? volumes->claims : no_claims;
}

bool PodView::uses_claim(std::string_view name) const {
  return std::any_of(claims().begin(), claims().end(),
                     [name](const ClaimUse& use) { return use.claim == name; });
}

PodRef view_of(std::shared_ptr<const Pod> pod, Symbols& symbols) {
  auto view = std::make_shared<PodView>();
  view->pod = std::move(pod);
  view->priority = view->pod->spec.priority.value_or(0);
  view->started = view->pod->status.start_time;
  auto requests = read_requests(*view->pod, symbols);
  if (requests) {
    view->requests = std::move(*requests);
  } else {
    note(*view, plugin_fit, requests.error().what);
  }
  view->host_ports = host_ports_of(view->pod->spec);
  read_terms(*view);
  read_volumes(*view);
  return view;
}

PodRef view_of(Pod pod, Symbols& symbols) {
  return view_of(std::make_shared<const Pod>(std::move(pod)), symbols);
}

}  // namespace holdfast::sync::schedule
