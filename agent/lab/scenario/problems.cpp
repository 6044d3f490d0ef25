#include "agent/lab/scenario/problems.h"

#include <algorithm>
#include <array>

#include "platform/text.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::size_t kept_max = 1'000;
constexpr std::size_t quoted_max = 80;
constexpr std::size_t compared_max = 64;  // longer words are not compared

using Row = std::array<std::size_t, compared_max + 1>;

// The number of insertions, removals, replacements and swaps of neighbours that make one word the
// other. Both words have at most compared_max bytes.
std::size_t distance(std::string_view left, std::string_view right) {
  Row before_last{};
  Row last{};
  Row row{};
  for (std::size_t j = 0; j <= right.size(); ++j) row.at(j) = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    before_last = last;
    last = row;
    row.front() = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t cost = left[i - 1] == right[j - 1] ? 0 : 1;
      row.at(j) = std::min({last.at(j) + 1, row.at(j - 1) + 1, last.at(j - 1) + cost});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]) {
        row.at(j) = std::min(row.at(j), before_last.at(j - 2) + 1);
      }
    }
  }
  return row.at(right.size());
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::size_t best = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string_view found;
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > compared_max) continue;
    const std::size_t least = std::max(word.size(), candidate.size()) -  //
                              std::min(word.size(), candidate.size());
    if (least >= best) continue;
    const std::size_t here = distance(word, candidate);
    // One-letter names are near to every other one.
    if (here >= best || here >= std::max(word.size(), candidate.size())) continue;
    best = here;
    found = candidate;
  }
  return found;
}

}  // namespace

int ScenarioProblems::add_file(std::string name) {
  sources_.push_back({std::move(name), true});
  return static_cast<int>(sources_.size()) - 1;
}

int ScenarioProblems::add_override(std::string text) {
  sources_.push_back({"--set " + printable(text.substr(0, quoted_max)), false});
  return static_cast<int>(sources_.size()) - 1;
}

void ScenarioProblems::add(YamlPlace place, std::string_view path, std::string_view what) {
  ++count_;
  if (kept_.size() >= kept_max) return;
  std::string text(path);
  if (!text.empty()) text += ": ";
  kept_.push_back({place, printable(text.append(what))});
}

std::string ScenarioProblems::text_of(const Problem& problem) const {
  const auto& [source, line, column] = problem.place;
  const auto& [name, has_lines] = sources_.at(static_cast<std::size_t>(source));
  if (name.empty()) return problem.text;
  if (!has_lines || line == 0) return name + ": " + problem.text;
  return name + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + problem.text;
}

Error ScenarioProblems::error() const {
  std::vector<Problem> sorted = kept_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& left, const Problem& right) {
    return left.place < right.place;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), shown_max); ++i) {
    text += (i == 0 ? "" : "\n") + text_of(sorted[i]);
  }
  if (count_ > shown_max) text += "\nand " + std::to_string(count_ - shown_max) + " more";
  return {Errc::invalid, std::move(text), {}};
}

std::string ScenarioProblems::hint(std::string_view word,
                                   const std::vector<std::string_view>& candidates) const {
  if (count_ >= shown_max || word.empty() || word.size() > compared_max) return {};
  const std::string_view found = nearest(word, candidates);
  return found.empty() ? std::string() : "; did you mean " + quoted_text(found) + "?";
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += "\\x" + hex_encode(std::string_view(&c, 1));
    }
  }
  return out;
}

std::string quoted_text(std::string_view text) {
  return '"' + printable(text.substr(0, quoted_max)) + (text.size() > quoted_max ? "...\"" : "\"");
}

std::string alternatives(const std::vector<std::string_view>& words, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " " + std::string(last) + " " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace holdfast::agent::lab
