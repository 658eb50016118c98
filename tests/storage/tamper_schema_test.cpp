// What is around the rows: tables, views, and what a file says of itself. A view that shows other
// amounts, or a trigger that changes rows as they are written, is tampering too.
#include <doctest/doctest.h>

#include <array>
#include <ctime>

#include "base/encoding.h"
#include "tests/storage/tamper_journal.h"

namespace jackpot::storage::tamper {
namespace {

constexpr std::array<const char*, 5> kTables{"journal", "checkpoint", "node", "snapshot",
                                             "segment"};
constexpr std::array<const char*, 5> kKeys{"seq", "size", "idx", "size", "first"};
constexpr std::array<const char*, 5> kValues{"payload", "note", "hash", "state", "frontier"};
constexpr std::array<const char*, 2> kViews{"records", "awards"};

struct Schema {
    MemoryDirectory directory;
    Specimen specimen{directory / "journal.db"};

    Schema() { REQUIRE(specimen.verify()); }
    ~Schema()
    {
        specimen.restore();
        const auto verdict = specimen.verify();
        CHECK_MESSAGE(verdict, inWords(verdict));
    }

    [[nodiscard]] Verdict after(const std::string& sql) const
    {
        specimen.restore();
        specimen.edit(sql);
        return specimen.verify(treeOnly());
    }

    // Changes the schema's text behind SQLite's back.
    [[nodiscard]] Verdict afterWriting(const std::string& set, const std::string& name) const
    {
        return after("PRAGMA writable_schema=ON; UPDATE sqlite_schema SET " + set +
                     " WHERE name='" + name + "';");
    }

    [[nodiscard]] bool isUnchanged() const
    {
        try {
            return specimen.contents() == original().contents;
        } catch (const SqliteFailure&) {
            return false;
        }
    }
};

std::vector<std::string> objectNames()
{
    std::vector<std::string> names{kTables.begin(), kTables.end()};
    names.insert(names.end(), kViews.begin(), kViews.end());
    return names;
}

}  // namespace

TEST_CASE("objects dropped, renamed and added")
{
    const Schema schema;
    Family family{"objects dropped, renamed and added"};
    std::vector<std::string> edits;
    for (const char* table : kTables) {
        const std::string name = table;
        edits.push_back("DROP TABLE " + name);
        edits.push_back("PRAGMA legacy_alter_table=ON; ALTER TABLE " + name + " RENAME TO other");
    }
    for (const char* view : kViews) edits.push_back(std::string{"DROP VIEW "} + view);
    edits.insert(edits.end(), {
                                  "CREATE TABLE other(a)",
                                  "CREATE TABLE other(a INTEGER PRIMARY KEY AUTOINCREMENT)",
                                  "CREATE TABLE records_(seq INTEGER PRIMARY KEY) STRICT",
                                  "CREATE VIEW other AS SELECT seq FROM journal",
                                  "CREATE VIRTUAL TABLE other USING rtree(a, b, c)",
                                  "ANALYZE",
                              });
    const std::size_t objects = edits.size();
    for (std::size_t i = 0; i < kTables.size(); ++i) {
        const std::string table = kTables.at(i);
        const std::string key = kKeys.at(i);
        const std::string value = kValues.at(i);
        edits.push_back("CREATE INDEX other ON " + table + "(" + value + ")");
        edits.push_back("CREATE UNIQUE INDEX other ON " + table + "(" + key + ", " + value + ")");
        edits.push_back("CREATE INDEX other ON " + table + "(" + key + ") WHERE " + key + ">5");
        edits.push_back("CREATE INDEX other ON " + table + "(length(" + value + "))");
        edits.push_back("ALTER TABLE " + table + " ADD COLUMN other TEXT");
        edits.push_back("ALTER TABLE " + table +
                        " ADD COLUMN other TEXT GENERATED ALWAYS AS (1) VIRTUAL");
        for (const char* when : {"BEFORE", "AFTER"})
            for (const char* what : {"INSERT", "UPDATE", "DELETE"})
                edits.push_back(std::string{"CREATE TRIGGER other "} + when + " " + what + " ON " +
                                table + " BEGIN DELETE FROM node; END");
    }
    for (const char* view : kViews)
        for (const char* what : {"INSERT", "UPDATE", "DELETE"})
            edits.push_back(std::string{"CREATE TRIGGER other INSTEAD OF "} + what + " ON " + view +
                            " BEGIN DELETE FROM node; END");
    CHECK(edits.size() == objects + kTables.size() * 12 + kViews.size() * 3);
    for (const std::string& edit : edits)
        family.mustDetect(schema.after(edit), wholeFile(), [&] { return edit; });
    family.expect(2 * kTables.size() + kViews.size() + 6 + 12 * kTables.size() + 3 * kViews.size());
}

TEST_CASE("views that show something else, and objects in another order")
{
    const Schema schema;
    Family family{"views that show something else, and objects in another order"};
    const std::string& records = original().contents.schema.at(5);
    const std::string& awards = original().contents.schema.at(6);
    const std::string drop = "DROP VIEW records; DROP VIEW awards; ";
    const std::vector<std::string> edits{
        drop + replaced(records, "'$.pools[0].meter'", "'$.pools[0].reserve'") + ";" + awards,
        drop + replaced(records, "FROM journal", "FROM journal WHERE seq<>5") + ";" + awards,
        drop + records + ";" + replaced(awards, "'$.amount'", "'$.seat'"),
        drop + records + ";" + awards + " WHERE seq<>5",
        drop + records + ";" + awards + " UNION SELECT 5,6,7,8,9,10,11,12",
        drop + records + " ;" + replaced(awards, "AS SELECT", "AS  SELECT"),
        drop + awards + ";" + records,
        drop + "CREATE VIEW records AS SELECT * FROM awards; " + awards,
        // A table that looks like the view, filled with what someone likes.
        "CREATE TABLE copy AS SELECT * FROM records; " + drop +
            "ALTER TABLE copy RENAME TO records; " + awards,
        "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rowid=rowid+10 WHERE name='journal'",
    };
    for (const std::string& edit : edits)
        family.mustDetect(schema.after(edit), wholeFile(), [&] { return edit; });
    // The same again is the same.
    const auto again = schema.after(drop + records + ";" + awards);
    family.mustDetectOr(schema.isUnchanged(), again, wholeFile(), [] { return "the same again"; });
    family.expect(edits.size() + 1);
}

TEST_CASE("a bit of each byte of the schema's text")
{
    const Schema schema;
    Family family{"a bit of each byte of the schema's text"};
    const auto names = objectNames();
    std::uint64_t bytes = 0;
    for (std::size_t object = 0; object < names.size(); ++object) {
        const std::string& sql = original().contents.schema.at(object);
        bytes += sql.size();
        for (std::size_t i = 0; i < sql.size(); ++i) {
            std::string changed = sql;
            changed[i] = static_cast<char>(changed[i] ^ (1 << (i * 5 % 8)));
            family.mustDetect(schema.afterWriting("sql=CAST(x'" + encodeHex(changed) + "' AS TEXT)",
                                                  names[object]),
                              wholeFile(),
                              [&] { return names[object] + ", byte " + std::to_string(i); });
        }
    }
    family.expect(bytes);
}

TEST_CASE("what the schema says beside its text")
{
    const Schema schema;
    Family family{"the schema's other columns"};
    const auto names = objectNames();
    const std::vector<std::string> changes{"type='view'",
                                           "type='table'",
                                           "type='index'",
                                           "type='trigger'",
                                           "type=''",
                                           "type=NULL",
                                           "name='other'",
                                           "name=''",
                                           "name=upper(name)",
                                           "name=name||' '",
                                           "name=NULL",
                                           "sql=sql||' '",
                                           "sql=' '||sql",
                                           "sql=upper(sql)",
                                           "sql=lower(sql)",
                                           "sql=sql||';'",
                                           "sql=sql||' -- '",
                                           "sql=NULL",
                                           "sql=''",
                                           "sql=CAST(sql AS BLOB)",
                                           "sql=replace(sql,'STRICT','')",
                                           "sql=replace(sql,' NOT NULL','')",
                                           "sql=replace(sql,'TEXT','BLOB')",
                                           "sql=replace(sql,'INTEGER','INT')",
                                           "tbl_name='other'",
                                           "tbl_name='journal'",
                                           "tbl_name=NULL",
                                           "rootpage=0",
                                           "rootpage=1",
                                           "rootpage=2",
                                           "rootpage=3",
                                           "rootpage=4",
                                           "rootpage=5",
                                           "rootpage=6",
                                           "rootpage=9999",
                                           "rootpage=-1",
                                           "rootpage=NULL",
                                           "rootpage='x'"};
    for (const std::string& name : names)
        for (const std::string& change : changes) {
            const auto verdict = schema.afterWriting(change, name);
            family.mustDetectOr(verdict && schema.isUnchanged(), verdict, anywhere(),
                                [&] { return name + ": " + change; });
        }
    family.expect(names.size() * changes.size());
}

TEST_CASE("tables that are exchanged for each other")
{
    const Schema schema;
    Family family{"root pages exchanged"};
    for (std::size_t a = 0; a < kTables.size(); ++a)
        for (std::size_t b = a + 1; b < kTables.size(); ++b) {
            const std::string first = kTables.at(a);
            const std::string second = kTables.at(b);
            const auto verdict = schema.after(
                "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage=(SELECT "
                "sum(rootpage) FROM sqlite_schema WHERE name IN ('" +
                first + "','" + second + "'))-rootpage WHERE name IN ('" + first + "','" + second +
                "')");
            family.mustDetect(verdict, anywhere(), [&] { return first + " and " + second; });
        }
    family.expect(kTables.size() * (kTables.size() - 1) / 2);
}

TEST_CASE("what the file says it is")
{
    const Schema schema;
    Family family{"application id and format version"};
    constexpr std::int64_t kApplicationId = 0x4a504f54;
    for (unsigned bit = 0; bit < 32; ++bit) {
        const auto flipped = [bit](std::int64_t value) {
            return std::to_string(
                static_cast<std::int32_t>(static_cast<std::uint32_t>(value) ^ (1U << bit)));
        };
        family.mustDetect(schema.after("PRAGMA application_id=" + flipped(kApplicationId)),
                          wholeFile(),
                          [&] { return "application id, bit " + std::to_string(bit); });
        family.mustDetect(schema.after("PRAGMA user_version=" + flipped(kFormatVersion)),
                          wholeFile(), [&] { return "user version, bit " + std::to_string(bit); });
    }
    family.expect(64);
}

// STRICT can be lifted, a value of another type written, and STRICT put back. The bytes are the
// same; the views show an error or nothing.
TEST_CASE("values of another type")
{
    const Schema schema;
    Family family{"values of another type with the same bytes"};
    std::uint64_t rows = 0;
    const auto retype = [&](const std::string& table, const std::string& key,
                            const std::string& value, const std::string& type,
                            std::int64_t number) {
        ++rows;
        schema.specimen.restore();
        const std::string schemaOf = "UPDATE sqlite_schema SET sql=replace(sql, ";
        schema.specimen.edit("PRAGMA writable_schema=ON; " + schemaOf +
                             "') STRICT', ')') WHERE name='" + table + "'");
        schema.specimen.edit("UPDATE " + table + " SET " + value + "=CAST(" + value + " AS " +
                             type + ") WHERE " + key + "=" + std::to_string(number));
        schema.specimen.edit(
            "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=sql||' "
            "STRICT' WHERE name='" +
            table + "'");
        const auto verdict = schema.specimen.verify(treeOnly());
        family.mustDetect(verdict, anywhere(),
                          [&] { return table + " " + std::to_string(number); });
    };
    const Contents& all = original().contents;
    for (const auto& [seq, payload] : all.payloads)
        retype("journal", "seq", "payload", "BLOB", seq);
    for (const auto& [size, note] : all.notes) retype("checkpoint", "size", "note", "BLOB", size);
    for (const auto& [index, hash] : all.nodes) retype("node", "idx", "hash", "TEXT", index);
    for (const auto& [size, snapshot] : all.snapshots) {
        retype("snapshot", "size", "state", "BLOB", size);
        retype("snapshot", "size", "frontier", "BLOB", size);
    }
    for (const auto& [first, text] : all.segments)
        retype("segment", "first", "frontier", "BLOB", first);
    CHECK(rows == kRecords + all.notes.size() + all.nodes.size() + 2 * all.snapshots.size() + 1);
    family.expect(rows);
}

// A table can be replaced by a view of the same name that answers what someone likes, or never: it
// must not be asked before the schema is known to be right.
TEST_CASE("a view in a table's place is not asked")
{
    const Schema schema;
    Family family{"a view that never ends in a table's place"};
    for (std::size_t i = 0; i < kTables.size(); ++i) {
        const std::string table = kTables.at(i);
        // Two seconds or more; it could be without end.
        const std::string slow = "CREATE VIEW " + table +
                                 " AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n "
                                 "WHERE x<10000000) SELECT max(x) AS " +
                                 kKeys.at(i) + ", '' AS " + kValues.at(i) + " FROM n";
        schema.specimen.restore();
        schema.specimen.edit("DROP TABLE " + table + "; " + slow);
        const auto before = std::clock();
        const auto verdict = schema.specimen.verify(treeOnly());
        const double seconds =
            static_cast<double>(std::clock() - before) / static_cast<double>(CLOCKS_PER_SEC);
        family.mustDetect(verdict, wholeFile(), [&] { return table; });
        CHECK_MESSAGE(seconds < 0.5, table);
    }
    family.expect(kTables.size());
}

}  // namespace jackpot::storage::tamper
