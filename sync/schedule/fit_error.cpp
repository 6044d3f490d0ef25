#include "sync/schedule/fit_error.h"

#include <algorithm>
#include <map>

#include "platform/text.h"

namespace holdfast::sync::schedule {
namespace {

// Counts the nodes by reason. As upstream, the lines are sorted as text: "10 x" precedes "2 y".
std::string histogram(std::size_t nodes, const NodeFitStatuses& fit_statuses) {
  std::map<std::string, std::size_t, std::less<>> counts;
  fit_statuses.each([&counts](std::size_t, const FitStatus& fit_status) {
    for (const std::string& reason : fit_status.reasons) ++counts[reason];
  });
  if (fit_statuses.size() < nodes) {
    const std::size_t absent = nodes - fit_statuses.size();
    for (const std::string& reason : fit_statuses.absent().reasons) counts[reason] += absent;
  }
  std::vector<std::string> lines;
  lines.reserve(counts.size());
  for (const auto& [reason, count] : counts) lines.push_back(std::to_string(count) + " " + reason);
  std::sort(lines.begin(), lines.end());
  return join(lines, ", ");
}

}  // namespace

void NodeFitStatuses::set(std::size_t position, FitStatus fit_status) {
  if (position >= fit_statuses_.size()) {
    fit_statuses_.resize(position + 1);
    explicit_.resize(position + 1, false);
  }
  if (!explicit_[position]) ++size_;
  explicit_[position] = true;
  fit_statuses_[position] = std::move(fit_status);
}

const FitStatus& NodeFitStatuses::at(std::size_t position) const {
  return has(position) ? fit_statuses_[position] : absent_;
}

std::string fit_error(const Diagnosis& diagnosis) {
  std::string text = "0/" + std::to_string(diagnosis.nodes) + " nodes are available:";
  const std::string lines = diagnosis.prefilter.empty()
                                ? histogram(diagnosis.nodes, diagnosis.fit_statuses)
                                : diagnosis.prefilter;
  if (!lines.empty()) text += " " + lines + ".";
  if (!diagnosis.postfilter.empty()) text += " " + diagnosis.postfilter;
  return text;
}

std::string fit_error(std::size_t nodes, const NodeFitStatuses& fit_statuses) {
  std::string text = "0/" + std::to_string(nodes) + " nodes are available:";
  const std::string lines = histogram(nodes, fit_statuses);
  return lines.empty() ? text : text + " " + lines + ".";
}

}  // namespace holdfast::sync::schedule
