#!/usr/bin/env python3
"""Journals changed by a person without the private key: verifier.py sees the change, or the content is unchanged."""

import base64
import contextlib
import itertools
import random
import re
import shutil
import sqlite3
import tempfile
import unittest
from pathlib import Path

import verifier
import verifier_crypto
import verifier_records
from verifier_case import (SEED, SEEDS, TABLES, Case, content_of, database_of, handed_over, journals, key_of, keys,
                           make_anew, notes_of, payloads_of, scratch, setUpModule, signed_note, tally, tearDownModule, writing)


class WithoutTheKey(Case):
    """Changes by a person who can write the files but has no private key."""

    def tamper(self, shape, change, *, what, unchanged_allowed=False):
        """Changes a copy. The verifier must detect it, or, if that is allowed, the records are unchanged."""
        directory = self.copy(shape)
        changed = change(directory)
        if changed is False:
            return None
        result = verifier.verify([directory], keys[shape])
        if result.fault:
            tally[f"{what}: detected"] += 1
            return result
        self.assertTrue(unchanged_allowed, f"not seen: {shape}")
        self.assertEqual(payloads_of(*verifier.files_of(directory)), payloads_of(*verifier.files_of(journals[shape])))
        tally[f"{what}: content provably unchanged"] += 1
        return None

    def sql(self, shape, *statements, **options):
        """Runs the statements; each is a text, or a pair of a text and its parameters."""
        def change(directory):
            with writing(database_of(directory)) as database:
                for statement in statements:
                    database.execute(*([statement] if isinstance(statement, str) else statement))
        return self.tamper(shape, change, **options)

    def rows(self, path, table):
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            database.text_factory = bytes
            return database.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()

    @staticmethod
    def set_column(table, column, key, value):
        name = TABLES[table][0]
        if isinstance(value, bytes) and table != "node":
            return f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE {name} = ?", (value, key)
        return f"UPDATE {table} SET {column} = ? WHERE {name} = ?", (value, key)

    def test_one_bit_in_every_column_of_ten_rows(self):
        choose = random.Random(SEED)
        for shape in ("floor", "rotated", "lost", "segments"):
            path = database_of(journals[shape])
            for table, columns in TABLES.items():
                rows = self.rows(path, table)
                for row in choose.sample(rows, min(10, len(rows))):
                    for column, value in zip(columns, row):
                        if isinstance(value, int):
                            taken = {each[0] for each in rows}
                            flipped = next(each for each in iter(lambda v=value: v ^ 1 << choose.randrange(63), None)
                                           if each not in taken)
                        else:
                            bit = choose.randrange(8 * len(value))
                            flipped = (int.from_bytes(value, "big") ^ 1 << bit).to_bytes(len(value), "big")
                        with self.subTest(shape=shape, table=table, column=column, row=row[0], flipped=flipped):
                            self.sql(shape, self.set_column(table, column, row[0], flipped), what="one bit")

    def test_every_bit_of_one_checkpoint_of_each_kind(self):
        """A note's signature covers only its text: the rest is protected by its strict form."""
        choose = random.Random(SEED)
        shape = "rotated"
        notes = notes_of(database_of(journals[shape]))
        for size in (handed_over(shape)[1], max(notes)):
            note = notes[size]
            for at in range(0, len(note), 3):
                flipped = bytearray(note)
                flipped[at] ^= 1 << choose.randrange(8)
                with self.subTest(size=size, at=at):
                    self.sql(shape, self.set_column("checkpoint", "note", size, bytes(flipped)), what="one bit")

    def test_rows_that_are_deleted_inserted_swapped_or_doubled(self):
        choose = random.Random(SEED)
        for shape in ("floor", "rotated"):
            path = database_of(journals[shape])
            sizes = sorted(notes_of(path))
            protected = {sizes[-1], *handed_over(shape)}
            for table, columns in TABLES.items():
                rows = self.rows(path, table)
                key, value = columns[0], columns[1]
                for row in choose.sample(rows, min(10, len(rows))):
                    where = dict(shape=shape, table=table, row=row[0])
                    with self.subTest("delete", **where):
                        self.sql(shape, (f"DELETE FROM {table} WHERE {key} = ?", row[:1]), what="rows",
                                 unchanged_allowed=table == "checkpoint" and row[0] not in protected)
                    numbers = [rows[-1][0] + 1, -1, -(2**63), 2**63 - 1, rows[-1][0] + 1000]
                    for number in choose.sample(numbers, 3):
                        columns_after = ", ".join(columns[1:])
                        with self.subTest("double", number=number, **where):
                            self.sql(shape, (f"INSERT INTO {table} SELECT ?, {columns_after} FROM {table} "
                                             f"WHERE {key} = ?", (number, row[0])), what="rows")
                        with self.subTest("move", number=number, **where):
                            self.sql(shape, (f"UPDATE {table} SET {key} = ? WHERE {key} = ?", (number, row[0])),
                                     what="rows")
                    other = choose.choice(rows)
                    if len(rows) > 1 and other[1:] != row[1:]:
                        with self.subTest("swap", other=other[0], **where):
                            self.sql(shape, *[self.set_column(table, name, here[0], there)
                                              for here, values in ((row, other), (other, row))
                                              for name, there in zip(columns[1:], values[1:])], what="rows")
                        with self.subTest("replace", other=other[0], **where):
                            self.sql(shape, self.set_column(table, value, row[0], other[1]), what="rows")

    def test_records_renumbered_after_one_was_removed(self):
        def change(directory):
            with writing(database_of(directory)) as database:
                database.execute("DELETE FROM journal WHERE seq = 40")
                database.execute("UPDATE journal SET seq = -seq WHERE seq > 40")
                database.execute("UPDATE journal SET seq = -seq - 1 WHERE seq < 0")
        self.tamper("floor", change, what="rows")

    def cut(self, directory, size, *tables):
        with writing(database_of(directory)) as database:
            for table in tables:
                limit = {"journal": size, "checkpoint": size + 1, "node": size >> 8, "snapshot": size}[table]
                database.execute(f"DELETE FROM {table} WHERE {TABLES[table][0]} >= ?", (limit,))

    def test_truncation(self):
        path = database_of(journals["floor"])
        sizes = sorted(notes_of(path))
        newest = self.rows(path, "snapshot")[-1][0]
        last = notes_of(path)[sizes[-1]]
        for size in [*sizes[:-1:9], sizes[-2]]:
            for tables in (["journal"], ["checkpoint"], ["journal", "node", "snapshot"],
                           ["checkpoint", "node", "snapshot"]):
                with self.subTest(size=size, tables=tables):
                    self.tamper("floor", lambda directory: self.cut(directory, size, *tables), what="truncation")
            with self.subTest(size=size):
                directory = self.copy("floor")
                self.cut(directory, size, "journal", "checkpoint", "node", "snapshot")
                result = verifier.verify([directory], keys["floor"])
                self.assertEqual(bool(result), size > newest or size <= 100)
                if result:
                    tally["truncation: only seen with an earlier checkpoint"] += 1
                self.assert_fault(verifier.verify([directory], keys["floor"], last))
                tally["truncation: detected with an earlier checkpoint"] += 1
        # To a size between two checkpoints.
        between = next(a + 1 for a, b in itertools.pairwise(sizes) if b - a > 1 and a > newest)
        self.tamper("floor", lambda directory: self.cut(directory, between, "journal", "checkpoint", "node"),
                    what="truncation")

    def test_a_missing_last_file(self):
        directory = self.copy("segments")
        since = notes_of(directory / "journal.db")
        (directory / "journal.db").unlink()
        self.assert_verified(verifier.verify([directory], keys["segments"]))
        tally["truncation: only seen with an earlier checkpoint"] += 1
        self.assert_fault(verifier.verify([directory], keys["segments"], since[max(since)]), "the journal ends here")

    def test_checkpoints_removed(self):
        path = database_of(journals["rotated"])
        sizes = sorted(notes_of(path))
        for size in sizes:
            seen = size in (*handed_over("rotated"), sizes[-1])
            with self.subTest(size):
                result = self.sql("rotated", f"DELETE FROM checkpoint WHERE size = {size}",
                                  unchanged_allowed=not seen, what="checkpoint removed")
                self.assertEqual(result is not None, seen)
        result = self.sql("floor", "DELETE FROM checkpoint WHERE size < 322", unchanged_allowed=True,
                          what="checkpoint removed")
        self.assertIsNone(result)

    def test_signatures(self):
        notes = notes_of(database_of(journals["rotated"]))
        sizes = sorted(notes)
        text, signature = {}, {}
        for size, note in notes.items():
            text[size], signature[size] = note.split(b"\n\n")

        def replaced(size, note):
            return self.sql("rotated", self.set_column("checkpoint", "note", size, note), what="signatures")

        for a, b in itertools.pairwise(sizes[::4]):
            replaced(a, text[a] + b"\n\n" + signature[b])
            self.sql("rotated", self.set_column("checkpoint", "note", a, text[a] + b"\n\n" + signature[b]),
                     self.set_column("checkpoint", "note", b, text[b] + b"\n\n" + signature[a]), what="signatures")
        changed = handed_over("rotated")[1]
        note_of_change = notes[changed]
        root = verifier_crypto.Checkpoint.parse(note_of_change).root
        origin = "jackpot.example/floor"
        right = signed_note(origin, changed, root, [SEEDS[1], SEEDS[2]])
        self.assertEqual(right.encode(), note_of_change)
        for seeds in ([SEEDS[1]], [SEEDS[2]], [SEEDS[2], SEEDS[1]], [SEEDS[0], SEEDS[2]], [SEEDS[1], SEEDS[3]],
                      [SEEDS[3]], [SEEDS[1], SEEDS[2], SEEDS[3]], [SEEDS[1], SEEDS[2], SEEDS[2]]):
            replaced(changed, signed_note(origin, changed, root, seeds).encode())
        for note in (note_of_change + b"\n", note_of_change[:-1], note_of_change.replace(b"\n\n", b"\nextension\n\n"),
                     note_of_change.replace(b"\n\n", b"\n\n\n"),
                     note_of_change.replace(b"\n%d\n" % changed, b"\n0%d\n" % changed),
                     b"\n" + note_of_change, note_of_change.replace(b"floor\n", b"floor \n"),
                     note_of_change + b"\xe2\x80\x94 witness.example AAAAAAAA\n",
                     signed_note("other.example", changed, root, [SEEDS[1], SEEDS[2]]).encode(), b"", b"\n\n"):
            replaced(changed, note)
        # The journal signed again by another key of the same name, which it then names as its own.
        other = str(key_of(origin, SEEDS[4]))

        def all_anew(directory):
            def change(payloads):
                payloads[0] = payloads[0].replace(keys["floor"][0].encode(), other.encode())
            make_anew(database_of(directory), change)
        self.tamper("floor", all_anew, what="signatures")
        directory = self.copy("floor")
        make_anew(database_of(directory))
        self.assertEqual(content_of(database_of(directory)), content_of(database_of(journals["floor"])))

    def test_a_forged_change_of_key(self):
        """Records and checkpoints added by a person who has no key of the journal."""
        mine = [key_of("jackpot.example/floor", seed) for seed in SEEDS[3:5]]

        def rotation(payloads, old, new, lost=False):
            record = {"seq": len(payloads), "time": 1 << 50, "kind": "key_rotated", "old": str(old), "new": str(new),
                      "lost": lost, "by": ["a", "b"]}
            payloads.append(verifier_records.to_text(record).encode())

        theirs = keys["floor"][0]
        attempts = {
            "by the new key alone": ([(theirs, mine[0], False)], [SEEDS[3]]),
            "by two new keys": ([(theirs, mine[0], False)], [SEEDS[4], SEEDS[3]]),
            "twice in one commit": ([(theirs, mine[0], False), (mine[0], mine[1], False)], SEEDS[3:5]),
            "as lost": ([(theirs, mine[0], True)], [SEEDS[3]]),
            "as lost and handed on": ([(theirs, mine[0], True), (mine[0], mine[1], False)], SEEDS[3:5]),
            "handed on and lost": ([(theirs, mine[0], False), (mine[0], mine[1], True)], [SEEDS[4]]),
        }
        for name, (rotations, seeds) in attempts.items():
            def change(payloads, rotations=rotations):
                for old, new, lost in rotations:
                    rotation(payloads, old, new, lost)

            size = 322 + len(rotations)
            with self.subTest(name):
                self.tamper("floor", lambda directory: make_anew(
                    database_of(directory), change, lambda at: seeds if at == size else None,
                    lambda sizes: [*sizes[:-1], 322, size]), what="forged key")

    def test_rows_of_another_journal_inserted(self):
        theirs = database_of(journals["other"])

        def splice(*statements):
            def change(directory):
                with writing(database_of(directory)) as database:
                    database.execute("ATTACH ? AS theirs", (str(theirs),))
                    for statement in statements:
                        database.execute(statement)
                    return database.total_changes > 0
            return self.tamper("floor", change, what="spliced")

        for table, columns in TABLES.items():
            if table != "segment":
                for low in (0, 100, 257, 300, 321):
                    splice(f"INSERT OR REPLACE INTO main.{table} SELECT * FROM theirs.{table} "
                           f"WHERE {columns[0]} >= {low if table != 'node' else 0}")
        everything = [f"INSERT OR REPLACE INTO main.{table} SELECT * FROM theirs.{table}" for table in TABLES]
        splice(*everything)
        splice(everything[1])
        self.tamper("floor", lambda directory: shutil.copy(theirs, directory / "journal.db"), what="spliced")
        # The same keys and site, another history.
        fork = database_of(journals["rotated"])
        self.tamper("floor", lambda directory: (directory / "segment-000000000322-000000000400.db").write_bytes(
            fork.read_bytes()), what="spliced")
        segments = verifier.files_of(journals["segments"])
        for number, file in enumerate(segments[:-1]):
            with self.subTest(number):
                self.tamper("segments", lambda directory: shutil.copy(
                    database_of(journals["floor"]), directory / file.name), what="spliced")
                self.tamper("segments", lambda directory: shutil.copy(
                    segments[number + 1], directory / file.name), what="spliced")
                if number:
                    self.tamper("segments", lambda directory: (directory / file.name).unlink(), what="spliced")

    def test_the_schema(self):
        view = next(sql for _, name, sql in verifier.SCHEMA if name == "awards")
        lying = view.replace("'$.amount' AS", "'$.rule' AS")
        edits = [
            ["CREATE TRIGGER late AFTER INSERT ON journal BEGIN DELETE FROM journal WHERE seq = new.seq; END"],
            ["CREATE INDEX quick ON journal(payload)"], ["CREATE TABLE more(x)"], ["CREATE VIEW more AS SELECT 1"],
            ["ANALYZE"], ["DROP VIEW awards"], ["DROP VIEW awards", lying],
            ["DROP VIEW records", "CREATE VIEW records AS SELECT 1 AS seq"], ["DROP VIEW awards", view + " WHERE 1"],
            ["DROP VIEW records", next(sql for _, name, sql in verifier.SCHEMA if name == "records")],
            ["PRAGMA application_id = 0"], ["PRAGMA user_version = 1"], ["PRAGMA user_version = 0"],
            ["ALTER TABLE journal ADD COLUMN note TEXT"], ["ALTER TABLE node RENAME TO nodes"],
            ["ALTER TABLE journal RENAME COLUMN payload TO content"], ["DROP TABLE node"],
            ["CREATE TABLE copy(seq INTEGER PRIMARY KEY, payload TEXT NOT NULL)",
             "INSERT INTO copy SELECT * FROM journal", "DROP VIEW records", "DROP VIEW awards", "DROP TABLE journal",
             "ALTER TABLE copy RENAME TO journal"],
            ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', 'strict')"],
            ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'node'"],
            ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = replace(sql, ' STRICT', '')"],
            ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET tbl_name = 'node' WHERE name = 'awards'"],
            ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema "
             "WHERE name = 'checkpoint') WHERE name = 'journal'"],
            ["PRAGMA writable_schema = 1", "DELETE FROM sqlite_schema WHERE name = 'segment'"],
            ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = "
             "'CREATE TABLE segment(first INTEGER PRIMARY KEY, frontier TEXT NOT NULL) STRICT' || char(0) || 'x' "
             "WHERE name = 'segment'"],
        ]
        for statements in edits:
            with self.subTest(statements):
                self.sql("floor", *statements, what="schema")
        # Values of another type, which STRICT refuses but which a changed file may contain.
        for table, column in (("journal", "payload"), ("checkpoint", "note"), ("snapshot", "state"),
                              ("snapshot", "frontier"), ("segment", "frontier")):
            sql = next(sql for _, name, sql in verifier.SCHEMA if name == table)
            self.sql("floor", "PRAGMA writable_schema = 1",
                     ("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql[:-7], table)),
                     "PRAGMA writable_schema = RESET",
                     f"UPDATE {table} SET {column} = CAST({column} AS BLOB)", "PRAGMA writable_schema = 1",
                     ("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql, table)), what="schema")

        def as_utf16(directory):
            path = database_of(directory)
            (directory / "new.db").touch()
            with writing(directory / "new.db") as database:
                database.execute("PRAGMA encoding = 'UTF-16le'")
                database.execute("ATTACH ? AS old", (str(path),))
                database.execute(f"PRAGMA application_id = {verifier.APPLICATION_ID}")
                database.execute("PRAGMA user_version = 2")
                for _, _, sql in verifier.SCHEMA:
                    database.execute(sql)
                for table in TABLES:
                    database.execute(f"INSERT INTO main.{table} SELECT * FROM old.{table}")
            (directory / "new.db").replace(path)

        def as_dump(directory):
            """The file written again with the same content: no fault."""
            path = database_of(directory)
            with writing(path) as database:
                database.execute("VACUUM")

        with contextlib.suppress(sqlite3.OperationalError):  # attached databases must have the same encoding
            self.tamper("floor", as_utf16, what="schema")
        self.assertIsNone(self.tamper("floor", as_dump, unchanged_allowed=True, what="schema"))

    def test_snapshots_nodes_and_where_a_file_begins(self):
        for shape in ("floor", "segments"):
            path = database_of(journals[shape])
            (size, state, frontier), *_ = self.rows(path, "snapshot")
            index, node = self.rows(path, "node")[0]
            first, before = self.rows(path, "segment")[0]
            richer = re.sub(rb'"meter":"(\d)', rb'"meter":"9', state, count=1)
            edits = [
                self.set_column("snapshot", "state", size, richer),
                self.set_column("snapshot", "state", size, state.replace(b'"suspended":false', b'"suspended":true', 1)),
                self.set_column("snapshot", "state", size, state + b" "),
                self.set_column("snapshot", "state", size, b"{}"),
                self.set_column("snapshot", "frontier", size, frontier + b"\n"),
                self.set_column("snapshot", "frontier", size, frontier[::-1]),
                self.set_column("snapshot", "frontier", size, b"0\n"),
                ("INSERT INTO snapshot VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT))", (size + 1, state, frontier)),
                "DELETE FROM snapshot",
                self.set_column("node", "hash", index, bytes(32)),
                self.set_column("node", "hash", index, node + b"\0"),
                self.set_column("node", "hash", index, node[:31]),
                self.set_column("node", "hash", index, b""),
                ("INSERT INTO node VALUES (?, ?)", (index + 1000, node)),
                ("INSERT INTO node VALUES (-2, ?)", (node,)),
                "DELETE FROM node",
                f"UPDATE segment SET first = {first + 1}",
                f"UPDATE segment SET first = {first - 1}",
                "DELETE FROM segment",
                "INSERT INTO segment VALUES (77, '0' || char(10))",
                self.set_column("segment", "frontier", first, b""),
                self.set_column("segment", "frontier", first, b"1\n" + base64.b64encode(bytes(32)) + b"\n"),
                self.set_column("segment", "frontier", first, before[:-1]),
                self.set_column("segment", "frontier", first, before + b"\n"),
            ]
            for edit in edits:
                with self.subTest(shape=shape, edit=edit):
                    self.sql(shape, edit, what="derived rows")

    def test_a_write_ahead_log_of_another_journal(self):
        def log_of(source, *statements):
            """Bytes of a log with these changes in it."""
            directory = Path(tempfile.mkdtemp(dir=scratch))
            self.addCleanup(shutil.rmtree, directory)
            path = directory / "journal.db"
            shutil.copy(source, path)
            with writing(path) as database:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA wal_autocheckpoint = 0")
                for statement in statements:
                    database.execute(statement)
                return Path(f"{path}-wal").read_bytes()

        ours, theirs = database_of(journals["floor"]), database_of(journals["other"])
        # Not in one statement: SQLite does not write a page that stays the same.
        touch_all = ["UPDATE journal SET payload = payload || ' '", "UPDATE journal SET payload = rtrim(payload)"]
        award = "UPDATE journal SET payload = replace(payload, '\"amount\":\"5', '\"amount\":\"9') WHERE seq = " \
                "(SELECT min(seq) FROM awards WHERE amount LIKE '5%')"
        logs = {
            "all of another": log_of(theirs, "VACUUM"),
            "most of another": log_of(theirs, *touch_all),
            "a page of another": log_of(theirs, *(f"{each} WHERE seq = 200" for each in touch_all)),
            "its last page": log_of(theirs, *(f"{each} WHERE seq = 321" for each in touch_all)),
            "an award raised": log_of(ours, award),
            "a record taken out": log_of(ours, "DELETE FROM journal WHERE seq = 300"),
            "of a shorter one": log_of(database_of(journals["lost"]), *touch_all),
            "the same": log_of(ours, *touch_all),
        }
        torn = logs["an award raised"]
        logs["torn"] = torn[:len(torn) - 100]
        logs["garbage"] = bytes(range(256)) * 300
        for name, log in logs.items():
            with self.subTest(name):
                result = self.tamper("floor", lambda directory: (directory / "journal.db-wal").write_bytes(log),
                                     unchanged_allowed=True, what="write-ahead log")
                self.assertEqual(result is None, name in ("the same", "torn", "garbage"))

        def rollback_journal(directory):
            """A hot rollback journal that would restore altered pages."""
            altered = directory / "altered.db"
            shutil.copy(database_of(directory), altered)
            with writing(altered) as database:
                database.execute("PRAGMA journal_mode = DELETE")
                database.execute("PRAGMA cache_size = 1")
                database.execute(award)
                database.execute("BEGIN IMMEDIATE")
                for statement in touch_all:
                    database.execute(statement)
                content = Path(f"{altered}-journal").read_bytes()
                database.execute("ROLLBACK")
            altered.unlink()
            Path(f"{database_of(directory)}-journal").write_bytes(content)
        self.tamper("floor", rollback_journal, unchanged_allowed=True, what="write-ahead log")

    def test_changed_bytes_of_the_file(self):
        choose = random.Random(SEED)
        original = database_of(journals["rotated"]).read_bytes()
        content = content_of(database_of(journals["rotated"]))
        for _ in range(250):
            at, bit = choose.randrange(len(original)), choose.randrange(8)

            def flip(directory):
                flipped = bytearray(original)
                flipped[at] ^= 1 << bit
                database_of(directory).write_bytes(flipped)
            self.damage(flip, content, at=at, bit=bit)
        pages = len(original) // 4096
        for _ in range(30):
            a, b = choose.sample(range(pages), 2)

            def swap(directory):
                swapped = bytearray(original)
                swapped[4096 * a:4096 * a + 4096] = original[4096 * b:4096 * b + 4096]
                swapped[4096 * b:4096 * b + 4096] = original[4096 * a:4096 * a + 4096]
                database_of(directory).write_bytes(swapped)
            self.damage(swap, content, a=a, b=b)
            self.damage(lambda directory: database_of(directory).write_bytes(
                original[:4096 * a] + bytes(4096) + original[4096 * a + 4096:]), content, zeroed=a)
            self.damage(lambda directory: database_of(directory).write_bytes(original[:4096 * a + 17]), content, cut=a)
        self.damage(lambda directory: database_of(directory).write_bytes(b""), content)
        self.damage(lambda directory: database_of(directory).write_bytes(original + bytes(4096)), content)

    def damage(self, change, content, **where):
        with self.subTest(**where):
            directory = self.copy("rotated")
            change(directory)
            result = verifier.verify([directory], keys["rotated"])
            if result:
                self.assertEqual(content_of(database_of(directory)), content)
            tally["damaged bytes: " + ("content provably unchanged" if result else "detected")] += 1


class Counts(unittest.TestCase):
    """Runs last (load_tests): the number of detected changes."""

    def test_enough_cases_were_run(self):
        wanted = {"one bit: detected": 300, "rows: detected": 300, "truncation: detected": 40,
                  "truncation: detected with an earlier checkpoint": 12, "checkpoint removed: detected": 3,
                  "checkpoint removed: content provably unchanged": 60, "signatures: detected": 50,
                  "forged key: detected": 6, "spliced: detected": 30, "schema: detected": 29,
                  "derived rows: detected": 40, "write-ahead log: detected": 6, "damaged bytes: detected": 100}
        for what, least in wanted.items():
            self.assertGreaterEqual(tally[what], least, what)


def load_tests(loader, tests, pattern):
    suite = unittest.TestSuite()
    for case in (WithoutTheKey, Counts):
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    unittest.main()
