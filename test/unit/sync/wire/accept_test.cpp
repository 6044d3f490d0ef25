// The encodings and forms that an Accept header accepts.

#include "sync/wire/accept.h"

#include <gtest/gtest.h>

namespace holdfast::sync::wire {
namespace {

#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"
#define PROTOBUF "application/vnd.kubernetes.protobuf"

std::string_view name_of(std::optional<Form> form) {
  if (!form) return "-";
  if (*form == Form::object) return "object";
  return *form == Form::table ? "table" : "metadata";
}

TEST(Accept, NamesTheEncodingAndTheForm) {
  struct Row {
    std::string_view accept;
    std::string_view encoding;   // of whole objects; "-": none
    std::string_view json_form;  // "-": none
    bool transformed;            // is preferred
    bool protobuf;               // is preferred
    std::string_view whole;      // the part about whole objects; "-": none
  };
  const Row rows[] = {
      {"", "json", "object", false, false, ""},
      {" ", "json", "object", false, false, ""},
      {"*/*", "json", "object", false, false, "*/*"},
      {"application/*", "json", "object", false, false, "application/*"},
      {"application/json", "json", "object", false, false, "application/json"},
      {PROTOBUF, "protobuf", "-", false, true, PROTOBUF},
      {PROTOBUF ",application/json", "protobuf", "object", false, true,
       PROTOBUF ",application/json"},
      {PROTOBUF ";stream=watch,*/*", "protobuf", "object", false, true,
       PROTOBUF ";stream=watch,*/*"},
      {PROTOBUF ";stream=watch,application/json;stream=watch", "protobuf", "object", false, true,
       PROTOBUF ";stream=watch,application/json;stream=watch"},
      {"application/json, " PROTOBUF, "json", "object", false, false, "application/json," PROTOBUF},
      {PROTOBUF ";q=0.5,application/json", "json", "object", false, false,
       "application/json," PROTOBUF ";q=0.5"},
      {PROTOBUF ";as=Table;v=v1;g=meta.k8s.io", "-", "-", true, false, "-"},
      {TABLE ",application/json", "json", "table", true, false, "application/json"},
      {TABLE, "-", "table", true, false, "-"},
      {"application/json;as=Table;v=v9;g=meta.k8s.io,application/json", "json", "object", true,
       false, "application/json"},
      {"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "-", "metadata", true,
       false, "-"},
      {"application/json;q=0.5," TABLE ";q=0.9", "json", "table", true, false,
       "application/json;q=0.5"},
      {"application/yaml", "-", "-", false, false, "-"},
      {"text/html, application/yaml;q=0.9", "-", "-", false, false, "-"},
      {"image/png", "-", "-", false, false, "-"},
      {",", "-", "-", false, false, "-"},
      {";;q=;=,q=9", "-", "-", false, false, "-"},
  };
  for (const Row& row : rows) {
    const Accept accept = Accept::parse(row.accept);
    const auto encoding = accept.encoding();
    EXPECT_EQ(encoding ? to_string(*encoding) : "-", row.encoding) << row.accept;
    EXPECT_EQ(name_of(accept.json_form()), row.json_form) << row.accept;
    EXPECT_EQ(accept.prefers_transformed(), row.transformed) << row.accept;
    EXPECT_EQ(accept.prefers_protobuf(Form::object), row.protobuf) << row.accept;
    const auto whole = accept.whole_objects();
    EXPECT_EQ(whole ? whole->text() : "-", row.whole) << row.accept;
    EXPECT_EQ(whole ? whole->encoding() : std::nullopt, encoding) << row.accept;
  }
}

TEST(Accept, AcceptsEveryEncodingThatIsListed) {
  const Accept both = Accept::parse(PROTOBUF ";q=0.1, " TABLE ", application/json;q=0.2");
  EXPECT_TRUE(both.accepts(Encoding::json));
  EXPECT_TRUE(both.accepts(Encoding::protobuf));
  const Accept table = Accept::parse(TABLE);
  EXPECT_FALSE(table.accepts(Encoding::json));
  EXPECT_FALSE(table.accepts(Encoding::protobuf));
  EXPECT_TRUE(Accept().accepts(Encoding::protobuf));
}

TEST(Accept, TellsWhichFormIsPreferredInProtobuf) {
  const struct {
    std::string_view accept;
    std::string_view forms;  // that are preferred
  } rows[] = {
      {"", ""},
      {PROTOBUF, "object"},
      {PROTOBUF ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "metadata"},
      {PROTOBUF ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json", "metadata"},
      {"application/json," PROTOBUF ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", ""},
      {PROTOBUF ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1;q=0.1,application/json", ""},
      {PROTOBUF ";as=PartialObjectMetadata;g=other;v=v1", ""},
      {PROTOBUF ";as=Table;g=meta.k8s.io;v=v1", "table"},
      {TABLE, ""},
  };
  for (const auto& row : rows) {
    const Accept accept = Accept::parse(row.accept);
    std::string forms;
    for (const Form form : {Form::object, Form::table, Form::metadata}) {
      if (accept.prefers_protobuf(form)) forms += name_of(form);
    }
    EXPECT_EQ(forms, row.forms) << row.accept;
  }
}

#undef TABLE
#undef PROTOBUF

}  // namespace
}  // namespace holdfast::sync::wire
