// The documented tables of each file equal those that the migrations create, and every migration
// can be reverted.

#include <algorithm>
#include <fstream>
#include <iterator>

#include "store/cache.h"
#include "store/migrate.h"
#include "store/outbox.h"
#include "store/revisions.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

const Schema* const schemas[] = {&cache_schema(), &outbox_schema(), &revisions_schema()};

// The SQL of every object by name, without comments and layout.
std::map<std::string, std::string> objects(Database& database) {
  Statement all = database.prepare(
      "SELECT name, sql FROM sqlite_schema"
      " WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name NOT IN ('meta', 'rollback')"
      " ORDER BY name");
  Cursor row = all.use();
  std::map<std::string, std::string> found;
  while (value(row.next())) {
    std::string sql;
    bool comment = false;
    for (const char c : row.text(1)) {
      if (c == '\n') comment = false;
      if (c == '-' && !sql.empty() && sql.back() == '-') {
        comment = true;
        sql.pop_back();
      }
      if (!comment && c != ' ' && c != '\n') sql += c;
    }
    found[std::string(row.text(0))] = sql;
  }
  return found;
}

std::string schema_sql(const Schema& schema) {
  const std::string kind(schema.kind);
  std::ifstream in(HOLDFAST_SOURCE_ROOT "/store/migrations/" + kind + "/schema.sql");
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Schema, SqlFilesSayWhatTheMigrationsMake) {
  for (const Schema* schema : schemas) {
    SCOPED_TRACE(schema->kind);
    Database migrated = Database::in_memory();
    ASSERT_EQ(said(migrate(migrated, *schema)), "ok");
    Database written = Database::in_memory();
    ASSERT_EQ(said(written.execute(schema_sql(*schema))), "ok");
    EXPECT_EQ(objects(migrated), objects(written));
    EXPECT_FALSE(objects(migrated).empty());
  }
}

TEST(Schema, EveryStepGoesBackToWhatWasBefore) {
  for (const Schema* schema : schemas) {
    SCOPED_TRACE(schema->kind);
    Database database = Database::in_memory();
    for (const Migration& step : schema->migrations) {
      const auto before = objects(database);
      ASSERT_EQ(said(database.execute(step.up)), "ok");
      ASSERT_EQ(said(database.execute(step.down)), "ok");
      EXPECT_EQ(objects(database), before);
      ASSERT_EQ(said(database.execute(step.up)), "ok");
    }
  }
}

}  // namespace
}  // namespace holdfast::store
