#include "agent/lab/demo/screen.h"

#include <unistd.h>

#include <cstdio>

#include "platform/text.h"

namespace holdfast::agent::demo {
namespace {

constexpr const char* bold = "\x1b[1m";
constexpr const char* dim = "\x1b[2m";
constexpr const char* green = "\x1b[32m";
constexpr const char* red = "\x1b[31m";
constexpr const char* plain = "\x1b[0m";

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

// "unreachable:NoExecute", without the prefix of the key.
std::string short_taint(const std::string& taint) { return taint.substr(taint.find('/') + 1); }

std::string row(const ClusterSnapshot& snapshot, const std::string& node) {
  std::vector<std::string> taints;
  const auto seen = snapshot.nodes().find(node);
  if (seen != snapshot.nodes().end()) {
    for (const std::string& taint : seen->second.taints) taints.push_back(short_taint(taint));
  }
  const auto link = snapshot.links().find(node);
  const std::int64_t outbox = link == snapshot.links().end() ? -1 : link->second.outbox;
  const std::string pods =
      std::to_string(snapshot.running(node)) + "/" + std::to_string(snapshot.on(node).size());
  return padded(node, 9) + padded(snapshot.link(node), 12) + padded(snapshot.ready(node), 9) +
         padded(pods, 7) + padded(outbox < 0 ? "?" : std::to_string(outbox), 8) +
         (taints.empty() ? "-" : join(taints, ", "));
}

}  // namespace

std::string clock_text(DemoTime at) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(at).count() / 100;
  const std::string text = std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "s";
  return std::string(text.size() < 7 ? 7 - text.size() : 0, ' ') + text;
}

std::vector<std::string> table(const ClusterSnapshot& snapshot,
                               const std::vector<std::string>& nodes) {
  std::vector<std::string> lines = {"node     link        ready    pods   unsent  taints"};
  for (const std::string& node : nodes) lines.push_back(row(snapshot, node));
  return lines;
}

Screen::Screen() : terminal_(isatty(STDOUT_FILENO) == 1) {}

void Screen::line(const std::string& text) {
  const auto table = table_;
  hide();
  (void)std::fputs((text + "\n").c_str(), stdout);
  (void)std::fflush(stdout);
  table_ = table;
}

void Screen::title(const std::string& text) {
  line(terminal_ ? "\n" + std::string(bold) + text + plain : "\n" + text);
}

void Screen::say(DemoTime at, const std::string& text) { line(clock_text(at) + "  " + text); }

void Screen::why(const std::string& text) {
  const std::string indented = "         " + text;
  line(terminal_ ? dim + indented + plain : indented);
}

void Screen::result(const CheckResult& result) {
  const std::string word = result.held ? "PASS" : "FAIL";
  const std::string shown =
      terminal_ ? std::string(result.held ? green : red) + word + plain : word;
  line(shown + "  " + result.promise + (result.detail.empty() ? "" : ": " + result.detail));
}

void Screen::show(const ClusterSnapshot& snapshot, const std::vector<std::string>& nodes) {
  if (!terminal_) return;
  auto lines = table(snapshot, nodes);
  if (shown_ > 0 && lines == table_) return;
  hide();
  (void)std::fputs("\n", stdout);
  for (const std::string& text : lines) {
    (void)std::fputs(("  " + text + "\n").c_str(), stdout);
  }
  (void)std::fflush(stdout);
  shown_ = lines.size() + 1;
  table_ = std::move(lines);
}

void Screen::hide() {
  if (shown_ == 0) return;
  (void)std::fputs(("\x1b[" + std::to_string(shown_) + "A\x1b[J").c_str(), stdout);
  shown_ = 0;
}

}  // namespace holdfast::agent::demo
