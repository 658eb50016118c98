#!/usr/bin/env python3
"""Verifies a signed journal of jackpotd. Written from docs/journal-format.md; shares no code with jackpotd.

    verifier.py [--key VKEY]... [--since CHECKPOINT_FILE] [--openssl-all] DIR_OR_FILES...

VKEY is a verifier key that you trust, CHECKPOINT_FILE the signed checkpoint of an earlier visit. Exit status:
0 verified, with a summary; 1 not, with the first bad record ("record 17: ...") or file; 2 a wrong call.

Ed25519 is checked by verifier_crypto.py, and by the openssl program for the last checkpoint and each key rotation
(with --openssl-all for every checkpoint). Needs Python 3.11 with SQLite 3.37 or later.
"""

import argparse
import hashlib
import itertools
import os
import sqlite3
import sys
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

from verifier_books import Books
from verifier_crypto import (NODE_LEVEL, Checkpoint, Fault, Frontier, Key, Malformed, ed25519_holds, leaf_hash,
                             openssl_holds)
from verifier_records import COMMANDS, FORMAT, parse_record, parse_state

APPLICATION_ID = 0x4A504F54
ROWS_A_READ = 1000

SCHEMA = [
    ("table", "journal",
     "CREATE TABLE journal(seq INTEGER PRIMARY KEY, payload TEXT NOT NULL) STRICT"),
    ("table", "checkpoint",
     "CREATE TABLE checkpoint(size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT"),
    ("table", "node",
     "CREATE TABLE node(idx INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT"),
    ("table", "snapshot",
     "CREATE TABLE snapshot(size INTEGER PRIMARY KEY, state TEXT NOT NULL, frontier TEXT NOT NULL) STRICT"),
    ("table", "segment",
     "CREATE TABLE segment(first INTEGER PRIMARY KEY, frontier TEXT NOT NULL) STRICT"),
    ("view", "records",
     "CREATE VIEW records AS SELECT seq,"
     " strftime('%Y-%m-%dT%H:%M:%f', payload ->> '$.time' / 1000.0, 'unixepoch') AS utc,"
     " payload ->> '$.kind' AS kind,"
     " payload ->> '$.command.table' AS \"table\","
     " payload ->> '$.command.round' AS round,"
     " payload ->> '$.pools[0].pool' AS pool,"
     " payload ->> '$.refused.code' AS refused,"
     " payload -> '$.awards' AS awards,"
     " payload ->> '$.pools[0].meter' AS meter"
     " FROM journal"),
    ("view", "awards",
     "CREATE VIEW awards AS SELECT seq,"
     " strftime('%Y-%m-%dT%H:%M:%f', payload ->> '$.time' / 1000.0, 'unixepoch') AS utc,"
     " award.value ->> '$.table' AS \"table\","
     " award.value ->> '$.round' AS round,"
     " award.value ->> '$.seat' AS seat,"
     " award.value ->> '$.tier' AS tier,"
     " award.value ->> '$.amount' AS amount,"
     " award.value ->> '$.rule' AS rule"
     " FROM journal, json_each(payload, '$.awards') AS award"),
]


# --- files ---------------------------------------------------------------------------------------------------

class JournalFile:
    """One file, read-only. Only what is committed when it is opened is read."""

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.is_file():
            raise Fault("there is no such file", file=self.path)
        with self.guarded():
            self.open()

    def guarded(self):
        return Guard(self.path)

    def open(self):
        at_rest = not Path(f"{self.path}-wal").exists() and not os.access(self.path.resolve().parent, os.W_OK)
        uri = "file:" + urllib.parse.quote(str(self.path.resolve())) + "?mode=ro" + "&immutable=1" * at_rest
        self.database = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=2)
        self.database.text_factory = bytes
        for pragma in ("query_only=1", "trusted_schema=0", "cell_size_check=1"):
            self.database.execute(f"PRAGMA {pragma}")
        self.database.execute("BEGIN")
        self.check_schema()
        segments = self.typed("segment", ("frontier",), "")
        if len(segments) != 1:
            raise Fault("it does not say once where it begins", file=self.path)
        self.first, self.first_frontier = segments[0]
        self.low, self.high = self.one("SELECT min(seq), max(seq) FROM journal")
        self.low_size, self.end = self.one("SELECT min(size), max(size) FROM checkpoint")
        self.nodes = dict(self.typed("node", ("hash",), ""))
        self.snapshots = {size: (state, frontier) for size, state, frontier in
                          self.typed("snapshot", ("state", "frontier"), "")}
        self.database.execute("COMMIT")

    def close(self):
        self.database.close()

    def one(self, sql):
        return self.database.execute(sql).fetchone()

    def check_schema(self):
        if self.one("PRAGMA application_id")[0] != APPLICATION_ID:
            raise Fault("it is not a journal of jackpotd", file=self.path)
        if self.one("PRAGMA user_version")[0] != FORMAT:
            raise Fault("it is of a format that this program does not know", file=self.path)
        if self.one("PRAGMA encoding")[0] not in (b"UTF-8", "UTF-8"):
            raise Fault("its texts are not stored as UTF-8", file=self.path)
        there = self.database.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid").fetchall()
        wanted = [tuple(each.encode() for each in (kind, name, name, sql)) for kind, name, sql in SCHEMA]
        for row, expected in itertools.zip_longest(there, wanted):
            if row != expected:
                name = expected[1].decode() if expected else str(row[1])
                raise Fault(f"its schema is not that of a journal: {name}", file=self.path)

    def typed(self, table, columns, where, *arguments):
        """Rows in the order of their key, whose columns have the types of the schema."""
        key = {"journal": "seq", "checkpoint": "size", "node": "idx", "snapshot": "size", "segment": "first"}[table]
        kind = b"blob" if table == "node" else b"text"
        rows = self.database.execute(
            f"SELECT {key}, {', '.join(columns)}, {', '.join(f'typeof({each})' for each in columns)} "
            f"FROM {table} {where} ORDER BY {key}" + f" LIMIT {ROWS_A_READ}" * bool(where), arguments).fetchall()
        for row in rows:
            if any(each != kind for each in row[1 + len(columns):]):
                raise Fault(f"its {table} has a row {row[0]} that is not {kind.decode()}", file=self.path)
        return [row[:1 + len(columns)] for row in rows]

    def rows(self, table, column, low, high):
        """The rows with low <= key < high, in short reads that do not block the writer."""
        key = {"journal": "seq", "checkpoint": "size"}[table]
        while True:
            with self.guarded():
                page = self.typed(table, (column,), f"WHERE {key} >= ? AND {key} < ?", low, high)
            yield from page
            if not page:
                return
            if page[-1][0] < low:
                raise Fault(f"the rows of its {table} are not in order", file=self.path)
            low = page[-1][0] + 1

    def check_integrity(self):
        with self.guarded():
            said = self.database.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if said not in (b"ok", "ok"):
                raise Fault(f"SQLite finds it damaged: {said!r}", file=self.path)


@dataclass
class Guard:
    path: Path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, (sqlite3.Error, sqlite3.Warning, OverflowError)):
            raise Fault(f"SQLite cannot read it: {error}", file=self.path) from None


def files_of(path):
    path = Path(path)
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("segment-*.db"))
    for name in ("journal.db", "journal.db.next"):  # the latter is used if closing a segment was interrupted
        if (path / name).exists():
            return files + [path / name]
    return files


# --- verification --------------------------------------------------------------------------------------------

@dataclass
class Result:
    fault: Fault | None = None
    first: int = 0
    end: int = 0
    commands: int = 0
    checkpoints: int = 0
    by_openssl: int = 0
    last_note: bytes = b""
    keys: list = field(default_factory=list)  # in the order in which they signed
    remarks: list = field(default_factory=list)

    def __bool__(self):
        return self.fault is None


class Verification:
    def __init__(self, trusted, since, openssl_all):
        self.trusted, self.since, self.openssl_all = trusted, since, openssl_all
        self.result = Result()
        self.frontier = Frontier()
        self.books = Books()
        self.last_time = 0
        self.keys = []
        self.trust_from = 0  # index into keys: keys before the last lost one are not trusted
        self.rotation = None  # the rotation in the commit that is being read
        self.key_at = []  # (seq, key): the key that signs from that record on
        self.since_root = None

    # The files are in the order of their records.
    def run(self, files):
        for number_of_file, file in enumerate(files):
            self.file = file
            self.begin(number_of_file == 0)
            self.read_commits()
            self.finish_file()
        self.check_trust()
        self.check_since()
        self.result.end = self.frontier.size
        self.result.keys = [str(key) for key in self.keys]

    def fault(self, what, seq=None):
        return Fault(what, seq, self.file.path)

    def begin(self, is_first):
        file = self.file
        if file.first < 0 or file.high is None or file.end is None:
            raise self.fault("it has no record or no checkpoint")
        if not is_first and file.first != self.frontier.size:
            raise self.fault(f"the next file begins at record {file.first}", self.frontier.size)
        if file.low < file.first:
            raise self.fault(f"it is in a file that begins at record {file.first}", file.low)
        if file.low_size <= file.first:
            raise self.fault(f"it has a checkpoint of size {file.low_size}, from before its first record")
        try:
            frontier = Frontier.parse(file.first_frontier)
        except Malformed as malformed:
            raise self.fault(f"the tree before its first record: {malformed}") from None
        if frontier.size != file.first:
            raise self.fault("the tree before its first record is of another size")
        if is_first:
            self.frontier = frontier
            self.result.first = file.first
            if file.first > 0:
                self.begin_within()
        elif frontier.text() != self.frontier.text():
            raise self.fault("the file does not go on from the tree of the one before it", file.first)
        if self.since and self.since.size == self.frontier.size:
            self.since_root = self.frontier.root()
        self.snapshot_records = []

    # The snapshot's hash is compared when its record is read, which is the first.
    def begin_within(self):
        first = self.file.first
        self.result.remarks.append(f"records before {first} were not given: the signed root covers them, "
                                   "nothing else was checked of them")
        if first not in self.file.snapshots:
            raise self.fault("the snapshot that the file begins with is missing", first)
        try:
            self.books.start_from(parse_state(self.file.snapshots[first][0]))
        except Malformed as malformed:
            raise self.fault(f"its snapshot: {malformed}", first) from None

    def read_commits(self):
        file = self.file
        records = file.rows("journal", "payload", file.first, file.end)
        begin = file.first
        for size, note in file.rows("checkpoint", "note", file.first + 1, file.end + 1):
            for seq, payload in itertools.islice(records, size - begin):
                if seq != self.frontier.size:
                    break
                self.read_record(seq, payload)
            if self.frontier.size != size:
                raise self.fault(f"it is missing; a checkpoint of size {size} has it", self.frontier.size)
            self.read_checkpoint(begin, size, note)
            begin = size
        if begin != file.end:
            raise self.fault("its last checkpoint cannot be found by its size")
        if file.high >= file.end:
            raise self.fault("no checkpoint has it", file.end)

    def read_record(self, seq, payload):
        try:
            record = parse_record(payload)
            if record["seq"] != seq:
                raise Malformed(f"it says that it is record {record['seq']}")
            if record["time"] < self.last_time:
                raise Malformed("its time is before that of the record before it")
            self.last_time = record["time"]
            self.take(seq, record)
        except Malformed as malformed:
            raise self.fault(str(malformed), seq) from None
        completed = self.frontier.append(leaf_hash(payload))
        if completed and self.file.nodes.get(seq >> NODE_LEVEL) != completed:
            raise self.fault(f"the stored tree node {seq >> NODE_LEVEL} is not what the records give", seq)
        if self.since and self.since.size == seq + 1:
            self.since_root = self.frontier.root()

    def take(self, seq, record):
        kind = record["kind"]
        opens = "journal_opened" if seq == 0 else "segment_opened"
        if seq == self.file.first and kind != opens:
            raise Malformed(f'the first record of the file is not "{opens}"')
        if seq != self.file.first and kind in ("journal_opened", "segment_opened"):
            raise Malformed("a journal or segment begins within a file")
        if kind in COMMANDS:
            self.books.take(record)
            self.result.commands += 1
        elif kind in ("journal_opened", "segment_opened"):
            key = Key.parse(record["key"])
            if not self.keys:
                self.use_key(seq, key)
            elif self.keys[-1] != key:
                raise Malformed("its key is not the one in use")
        elif kind == "key_rotated":
            self.rotate(seq, record)
        if kind in ("snapshot", "segment_opened"):
            self.check_snapshot(seq, record)

    def use_key(self, seq, key):
        self.keys.append(key)
        self.key_at.append((seq, key))

    def rotate(self, seq, record):
        old, new = Key.parse(record["old"]), Key.parse(record["new"])
        if self.rotation is not None:
            raise Malformed("the key is rotated twice in one commit")
        if old != self.keys[-1]:
            raise Malformed("the key that is given up is not the one in use")
        if new.name != old.name or new == old:
            raise Malformed("the new key has another name, or is the old one")
        if record["lost"] and len(set(record["by"]) - {""}) < 2:
            raise Malformed("a lost key is replaced by fewer than two people")
        self.rotation = (old, record["lost"])
        self.use_key(seq, new)
        if record["lost"]:
            self.trust_from = len(self.keys) - 1
        how = "replaced a lost one" if record["lost"] else "took over"
        self.result.remarks.append(f"record {seq}: the key {new} {how}, by {', '.join(record['by']) or 'nobody'}")

    def check_snapshot(self, seq, record):
        self.snapshot_records.append(seq)
        row = self.file.snapshots.get(seq)
        if row is None:
            return
        state, frontier = row
        if hashlib.sha256(state).hexdigest() != record["sha256"]:
            raise Malformed("the snapshot is not the one whose hash it has")
        if frontier != self.frontier.text():
            raise Malformed("the snapshot's tree is not what the records give")
        self.books.compare(parse_state(state))

    def read_checkpoint(self, begin, size, note):
        commit = f"records {begin} to {size - 1}, the checkpoint of size {size}"
        try:
            checkpoint = Checkpoint.parse(note)
            if checkpoint.origin != self.keys[-1].name:
                raise Malformed(f"it is of {checkpoint.origin}")
            if checkpoint.size != size:
                raise Malformed(f"it says that its size is {checkpoint.size}")
            if checkpoint.root != self.frontier.root():
                raise Malformed("these are not the records whose root was signed")
            signers = [self.keys[-1]]
            if self.rotation and not self.rotation[1]:
                signers.insert(0, self.rotation[0])
            self.check_signatures(checkpoint, signers, size == self.file.end or self.rotation is not None)
        except Malformed as malformed:
            raise self.fault(f"{commit}: {malformed}", begin) from None
        self.rotation = None
        self.result.checkpoints += 1
        self.result.last_note = note

    def check_signatures(self, checkpoint, signers, by_openssl):
        signed_by = [each[:2] for each in checkpoint.signatures]
        if signed_by != [(key.name, key.key_id) for key in signers]:
            raise Malformed("it is not signed by " + " and ".join(str(key) for key in signers)
                            + (" alone" if len(signers) == 1 else ""))
        for key, (_, _, signature) in zip(signers, checkpoint.signatures):
            if not ed25519_holds(key.public, checkpoint.text, signature):
                raise Malformed(f"the signature by {key} is wrong")
            if by_openssl or self.openssl_all:
                self.result.by_openssl += 1
                if not openssl_holds(key.public, checkpoint.text, signature):
                    raise Malformed(f"the signature by {key} is wrong, says openssl")

    def finish_file(self):
        file = self.file
        wanted = range(file.first >> NODE_LEVEL, file.end >> NODE_LEVEL)
        if sorted(file.nodes) != list(wanted):
            raise self.fault("it has other tree nodes than those that its records complete")
        kept = set(self.snapshot_records[-2:])
        if file.first > 0:
            kept.add(file.first)
        if set(file.snapshots) != kept:
            raise self.fault(f"it has snapshots {sorted(file.snapshots)}, it should have {sorted(kept)}")
        file.check_integrity()

    def check_trust(self):
        if not self.trusted:
            self.result.remarks.append("no key was given: whoever has the file could have made all of it anew")
            return
        if set(self.trusted) & set(self.keys[self.trust_from:]):
            return
        what = f"it is signed with {self.keys[-1]}, which is not a key that you gave"
        if set(self.trusted) & set(self.keys[:self.trust_from]):
            what += ": the one that you gave was replaced as lost; have the new one handed to you another way"
        raise self.fault(what)

    def check_since(self):
        since = self.since
        if not since:
            return
        if since.size > self.frontier.size:
            raise self.fault(f"the journal ends here, your earlier checkpoint has {since.size} records",
                             self.frontier.size)
        if self.since_root is None:
            raise self.fault(f"your earlier checkpoint has {since.size} records: give the earlier segments too")
        if self.since_root != since.root:
            raise self.fault("the history before here is not that of your earlier checkpoint", since.size)
        # The key of that time: the last one that was introduced by a record before its size.
        signers = [key for seq, key in self.key_at if seq < since.size][-1:]
        signers += [key for key in self.trusted if key not in signers]
        for name, key_id, signature in since.signatures:
            for key in signers:
                if (name, key_id) == (key.name, key.key_id) and since.origin == name and \
                        ed25519_holds(key.public, since.text, signature):
                    return
        raise self.fault("your earlier checkpoint is not signed by the journal's key of that time")


def verify(paths, keys=(), since=None, openssl_all=False):
    """Verifies the files, or the directories of files, of one journal. `keys` are verifier keys that are trusted,
    `since` the bytes of an earlier checkpoint. What is wrong is Result.fault; a key or checkpoint of yours that
    cannot be read raises Malformed."""
    verification = Verification([Key.parse(each) for each in keys],
                                Checkpoint.parse(since) if since is not None else None, openssl_all)
    result = verification.result
    files = []
    try:
        for path in itertools.chain.from_iterable(files_of(each) for each in paths):
            files.append(JournalFile(path))
        if not files:
            raise Fault("there is no journal", file=", ".join(str(each) for each in paths))
        verification.run(sorted(files, key=lambda file: file.first))
    except Fault as fault:
        result.fault = fault
    finally:
        for file in files:
            file.close()
    return result


def main(arguments):
    parser = argparse.ArgumentParser(prog="verifier.py", description="Verifies a signed journal of jackpotd.")
    parser.add_argument("--key", action="append", default=[], metavar="VKEY", help="a verifier key you trust")
    parser.add_argument("--since", metavar="CHECKPOINT_FILE", help="a checkpoint of an earlier visit")
    parser.add_argument("--openssl-all", action="store_true", help="check every signature by openssl too")
    parser.add_argument("paths", nargs="+", metavar="DIR_OR_FILE")
    options = parser.parse_args(arguments)
    try:
        since = Path(options.since).read_bytes() if options.since else None
        result = verify(options.paths, options.key, since, options.openssl_all)
    except (OSError, Malformed) as error:
        print(f"verifier.py: {error}", file=sys.stderr)
        return 2
    if not result:
        print(result.fault)
        return 1
    print(f"verified: records {result.first} to {result.end - 1}, {result.commands} commands, "
          f"{result.checkpoints} checkpoints, {result.by_openssl} signatures also by openssl")
    for remark in result.remarks:
        print(remark)
    print(result.last_note.decode(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
