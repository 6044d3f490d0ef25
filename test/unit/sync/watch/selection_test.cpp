#include "sync/watch/selection.h"

#include <gtest/gtest.h>

namespace holdfast::sync::watch {
namespace {

Selection selecting(std::string name_space, std::string labels, std::string fields) {
  return {.resource = "pods",
          .namespace_name = std::move(name_space),
          .label_selector = std::move(labels),
          .field_selector = std::move(fields)};
}

TEST(Selection, CoversOneWithMoreTerms) {
  struct Row {
    Selection wider;
    Selection narrower;
    bool covers;
  };
  const Row rows[] = {
      {selecting("", "", ""), selecting("a", "x=1", "spec.nodeName=n"), true},
      {selecting("a", "", ""), selecting("b", "", ""), false},
      {selecting("a", "", ""), selecting("", "", ""), false},
      {selecting("", "", "spec.nodeName=n"), selecting("", "", "metadata.name=p,spec.nodeName=n"),
       true},
      {selecting("", "", "metadata.name=p,spec.nodeName=n"), selecting("", "", "spec.nodeName=n"),
       false},
      {selecting("", "", "spec.nodeName=n"), selecting("", "", "metadata.name=p,spec.nodeName=m"),
       false},
      {selecting("", "", "spec.nodeName!=n"), selecting("", "", "metadata.name=p,spec.nodeName=n"),
       false},
      {selecting("", "x in (a,b)", ""), selecting("", "!y,x in (b,a)", ""), true},
      {selecting("", "x in (a,b)", ""), selecting("", "x in (a),y", ""), false},
      {selecting("", "x", "spec.nodeName=n"), selecting("", "x,y", "metadata.name=p"), false},
      {selecting("", "(", ""), selecting("", "(,x", ""), false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(covers(row.wider, row.narrower), row.covers)
        << row.wider.label_selector << " " << row.wider.field_selector << " / "
        << row.narrower.label_selector << " " << row.narrower.field_selector;
  }
}

}  // namespace
}  // namespace holdfast::sync::watch
