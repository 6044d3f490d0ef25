// The schema that is read from the tables.

#include "sync/model/schema.h"

#include <set>

namespace holdfast::sync::inline model {
namespace {

TEST(Schema, HasEachNumberOnce) {
  for (const StructType& type : all_types()) {
    std::set<std::pair<int, int>> numbers;
    for (const Field& field : type.fields) {
      if (field.number == 0) continue;
      EXPECT_TRUE(numbers.emplace(field.inside, field.number).second)
          << type.name << "." << field.name;
    }
  }
}

}  // namespace
}  // namespace holdfast::sync::inline model
