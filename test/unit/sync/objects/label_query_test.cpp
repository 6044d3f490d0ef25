// Label selectors: parsing, matching, and upstream's error messages.

#include "sync/objects/selector.h"

namespace holdfast::sync::objects {
namespace {

// Parses and prints again; returns the error's text if it does not parse.
std::string label_text(std::string_view text) {
  const auto query = LabelQuery::parse(text);
  return query ? query->text() : query.error().what;
}

struct LabelLine {
  std::string_view in;
  std::string_view out;
};

const LabelLine good_labels[] = {
    {"", ""},
    {"x=a,y=b,z=c", "x=a,y=b,z=c"},
    {"z=c,a==b", "a==b,z=c"},
    {"x!=a,y=b", "x!=a,y=b"},
    {"x=", "x="},
    {"x= ,z= ", "x=,z="},
    {"!x", "!x"},
    {" ! x ", "!x"},
    {"x>1,z<5", "x>1,z<5"},
    {"app in (web,db),!gone", "app in (db,web),!gone"},
    {"x in (b,a,b)", "x in (a,b)"},
    {"x notin (a)", "x notin (a)"},
    {"x in ()", "x in ()"},
    {"x in (,)", "x in ()"},
    {"x in (a,,b,)", "x in (,a,b)"},
    {"in in (in,notin)", "in in (in,notin)"},
    {"x=in", "x=in"},
    {"example.com/x=1", "example.com/x=1"},
};

const LabelLine bad_labels[] = {
    {"==", "found '==', expected: !, identifier, or 'end of string'"},
    {"x=a||y=b",
     R"(unable to parse requirement: values[0][x]: Invalid value: "a||y": a valid label must be )"
     R"(an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start )"
     R"(and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', )"
     R"~(regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'))~"},
    {"x==a==b", "found '==', expected: ',' or 'end of string'"},
    {"!x=a", "found '=', expected: ',' or 'end of string'"},
    {"x,", "found '', expected: identifier after ','"},
    {"x,,y", "found ',', expected: identifier after ','"},
    {"!", "unable to parse requirement: found '', expected: identifier"},
    {"!=", "found '!=', expected: !, identifier, or 'end of string'"},
    {"x y", "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"},
    {"x in", "unable to parse requirement: found '' expected: '('"},
    {"x in a", "unable to parse requirement: found 'a' expected: '('"},
    {"x in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"},
    {"x in (a", "unable to parse requirement: found '', expected: ',' or ')'"},
    {"x in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'"},
    {"x in (a,", "unable to parse requirement: found '', expected: ',', or identifier"},
    {"x=(", "unable to parse requirement: found '(', expected: identifier"},
    {"x>a",
     R"(unable to parse requirement: values[0]: Invalid value: "a": for 'Gt', 'Lt' operators, )"
     R"(the value must be an integer)"},
    {"a/b/c",
     R"(unable to parse requirement: <nil>: Invalid value: "a/b/c": a qualified name must consist )"
     R"(of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric )"
     R"(character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is )"
     R"~('([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and )~"
     R"~('/' (e.g. 'example.com/MyName'))~"},
};

TEST(LabelQuery, ParsesAndPrints) {
  for (const LabelLine& line : good_labels) EXPECT_EQ(label_text(line.in), line.out) << line.in;
}

TEST(LabelQuery, ComplainsAsUpstream) {
  for (const LabelLine& line : bad_labels) EXPECT_EQ(label_text(line.in), line.out) << line.in;
}

struct Match {
  std::string_view selector;
  StringMap labels;
  bool matches;
};

const Match matches[] = {
    {"", {}, true},
    {"", {{"x", "y"}}, true},
    {"x=y", {{"x", "y"}}, true},
    {"x=y", {{"x", "z"}}, false},
    {"x=y", {}, false},
    {"x=", {{"x", ""}}, true},
    {"x=", {}, false},
    {"x!=y", {}, true},
    {"x!=y", {{"x", "y"}}, false},
    {"x in (a,b)", {{"x", "b"}}, true},
    {"x in (a,b)", {}, false},
    {"x notin (a,b)", {{"x", "b"}}, false},
    {"x notin (a,b)", {}, true},
    {"x", {{"x", ""}}, true},
    {"x", {}, false},
    {"!x", {}, true},
    {"!x", {{"x", ""}}, false},
    {"x>1", {{"x", "2"}}, true},
    {"x>1", {{"x", "1"}}, false},
    {"x>1", {{"x", "a"}}, false},
    {"x<1", {{"x", "-2"}}, true},
    {"x<1", {}, false},
    {"x=y,z", {{"x", "y"}, {"z", ""}}, true},
    {"x=y,z", {{"x", "y"}}, false},
};

TEST(LabelQuery, Matches) {
  for (const Match& line : matches) {
    const auto query = LabelQuery::parse(line.selector);
    ASSERT_TRUE(query.has_value()) << line.selector;
    EXPECT_EQ(query->matches(line.labels), line.matches) << line.selector;
  }
  EXPECT_FALSE(LabelQuery::nothing().matches({}));
  EXPECT_FALSE(LabelQuery::nothing().matches_everything());
  EXPECT_TRUE(LabelQuery().matches_everything());
}

TEST(LabelQuery, ExactValues) {
  EXPECT_EQ(LabelQuery::parse("a=b")->exact("a"), "b");
  EXPECT_EQ(LabelQuery::parse("a in (b)")->exact("a"), "b");
  EXPECT_EQ(LabelQuery::parse("a in (b,c)")->exact("a"), std::nullopt);
  EXPECT_EQ(LabelQuery::parse("a!=b")->exact("a"), std::nullopt);
  EXPECT_EQ(LabelQuery::parse("a=b")->exact("c"), std::nullopt);
}

TEST(LabelQuery, FromObjects) {
  LabelSelector selector;
  selector.match_labels = {{"z", "1"}};
  selector.match_expressions = {{"a", "In", {"y", "x"}, {}},
                                {"b", "DoesNotExist", {}, {}},
                                {"c", "Exists", {}, {}},
                                {"d", "NotIn", {"q"}, {}}};
  EXPECT_EQ(LabelQuery::from(selector)->text(), "a in (x,y),!b,c,d notin (q),z=1");
  EXPECT_EQ(LabelQuery::from({}), LabelQuery());
  EXPECT_EQ(LabelQuery::from_labels({{"b", "2"}, {"a", "1"}}).text(), "a=1,b=2");

  selector.match_expressions = {{"a", "In", {}, {}}};
  EXPECT_EQ(LabelQuery::from(selector).error().what,
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
  selector.match_expressions = {{"a", "Exists", {"b"}, {}}};
  EXPECT_EQ(LabelQuery::from(selector).error().what,
            "values: Invalid value: [\"b\"]: values set must be empty for exists and does not "
            "exist");
  selector.match_expressions = {{"a", "Near", {}, {}}};
  EXPECT_EQ(LabelQuery::from(selector).error().what,
            "\"Near\" is not a valid label selector operator");
}

}  // namespace
}  // namespace holdfast::sync::objects
