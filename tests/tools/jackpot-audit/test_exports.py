"""jackpot-audit export, and verify of exports."""

import os
import base64
import csv
import io
import json
import random
import shutil
import unittest

from audit_support import (MAY_1, NAME, SITE, AuditTest, FloorTest, Maker, audit, check_note, edit,
                           files_of, last_note, leaf_hash, public_key, read_journal,
                           root_from_proof, verifier_key)

FORMS = ("jsonl", "csv")
COLUMNS = ["seq", "utc", "kind", "table", "pool", "round", "refused", "payload", "proof"]


def parse(form, content):
    """The header and the rows (seq, payload bytes, proof hashes, columns) of an export."""
    if form == "jsonl":
        lines = [json.loads(line) for line in content.decode().splitlines()]
        return lines[0], [(line["seq"], line["record"].encode(),
                           [base64.b64decode(each) for each in line["proof"]], None)
                          for line in lines[1:]]
    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    assert rows[0] == COLUMNS
    assert rows[1][:7] == ["checkpoint"] + [""] * 6 and rows[1][8] == ""
    return json.loads(rows[1][7]), [(int(row[0]), row[7].encode(),
                                     [base64.b64decode(each) for each in row[8].split()], row)
                                    for row in rows[2:]]


class ExportTest(FloorTest):
    def export(self, form, *options, journal=None, name="export"):
        path = self.scratch / f"{name}.{form}"
        path.unlink(missing_ok=True)
        run = audit("export", "--format", form, *options, "--out", path, journal or self.journal)
        self.assertEqual((run.returncode, run.stdout), (0, b""), run.stderr)
        self.messages = run.stderr.decode()
        return path

    def verified(self, path, vkey=None):
        return json.loads(self.good(audit("verify", "--json", "--key", vkey or self.vkey, path)))

    def check_by_hand(self, form, path, vkey, payloads):
        """Checks the signature with openssl, the proofs with this file's own code, the payloads with SQLite."""
        header, rows = parse(form, path.read_bytes())
        _, size, root = check_note(header["checkpoint"], vkey, self.scratch)
        for seq, payload, proof, _ in rows:
            self.assertEqual(payload, payloads[seq])
            self.assertEqual(root_from_proof(seq, size, leaf_hash(payload), proof), root, seq)
        self.assertEqual(header["records"], len(rows))
        return header, rows


class Exports(ExportTest):
    def test_an_export_of_the_whole_journal(self):
        for form in FORMS:
            path = self.export(form)
            header, rows = self.check_by_hand(form, path, self.vkey, self.payloads)
            self.assertEqual([row[0] for row in rows], list(range(self.size)))
            self.assertEqual(header["checkpoint"], last_note(self.journal))
            self.assertEqual(header["jackpot_audit_export"], 1)
            self.assertEqual(header["keys"], ["+".join(self.vkey.split("+", 2)[:2])])
            self.assertEqual((header["selection"], header["first"]), ({}, 0))
            self.assertIn("It is complete", self.messages)
            outcome = self.verified(path)
            self.assertEqual((outcome["records"], outcome["first"], outcome["last"]),
                             (self.size, 0, self.size - 1))
            self.assertIs(outcome["complete"], True)
            self.assertIn("It is complete", self.good(audit("verify", "--key", self.vkey, path)))

    def test_an_export_to_standard_output(self):
        for form in FORMS:
            run = audit("export", "--format", form, self.journal)
            self.assertEqual(self.good(run, quiet=False).encode(), self.export(form).read_bytes())

    def test_the_columns_of_csv(self):
        path = self.export("csv")
        self.assertTrue(path.read_bytes().startswith(",".join(COLUMNS).encode() + b"\r\n"))
        _, rows = parse("csv", path.read_bytes())
        for seq, payload, _, row in rows:
            record = json.loads(payload)
            command = record.get("command", {})
            pools = record.get("pools", [])
            utc = f"2026-05-0{1 + (record['time'] - MAY_1) // 86_400_000}T"
            self.assertTrue(row[1].startswith(utc) and row[1].endswith("Z"), row[1])
            self.assertEqual(row[2], record["kind"])
            self.assertEqual(row[3], command.get("table", ""))
            self.assertEqual(row[4], pools[0]["pool"] if len(pools) == 1
                             else command.get("pool", ""))
            self.assertEqual(row[5], str(command.get("round", "")))
            self.assertEqual(row[6], record.get("refused", {}).get("code", ""))

    def test_exports_contain_the_selected_records(self):
        second_day = MAY_1 + 86_400_000

        def concerns(record, table):
            command = record.get("command", {})
            lists = [each for name in ("awards", "withdrawn", "refunds", "claims")
                     for each in record.get(name, [])]
            lists += [each for group in command.get("order", []) for each in group]
            return command.get("table") == table or any(each["table"] == table for each in lists)

        cases = {
            ("--pool", "UTH"): lambda r: any(p["pool"] == "UTH" for p in r.get("pools", [])),
            ("--table", "B2"): lambda r: concerns(r, "B2"),
            ("--kind", "round_result"): lambda r: r["kind"] == "round_result",
            ("--kind", "round_result", "--kind", "settle_due"):
                lambda r: r["kind"] in ("round_result", "settle_due"),
            ("--from", "2026-05-02"): lambda r: r["time"] >= second_day,
            ("--from", "2026-05-02T00:00:00.000Z"): lambda r: r["time"] >= second_day,
            ("--from", "2026-05-02T10:00:00+10:00"): lambda r: r["time"] >= second_day,
            ("--from", str(second_day)): lambda r: r["time"] >= second_day,
            ("--to", "2026-05-02"): lambda r: r["time"] < second_day,
            ("--from", "2026-05-01T01:00:20.000Z", "--to", "2026-05-01T01:01:20.001Z"):
                lambda r: MAY_1 + 3_620_000 <= r["time"] < MAY_1 + 3_680_001,
            ("--from", "2026-05-02", "--to", "2026-05-03", "--pool", "B7", "--kind",
             "payment_recorded"):
                lambda r: r["kind"] == "payment_recorded" and r["time"] >= second_day,
            ("--pool", "none"): lambda r: False,
            ("--from", "2027-01-01"): lambda r: False,
            ("--to", "2020-01-01"): lambda r: False,
        }
        for options, wanted in cases.items():
            expected = [record["seq"] for record in self.records if wanted(record)]
            for form in FORMS:
                with self.subTest(options=options, form=form):
                    path = self.export(form, *options)
                    _, rows = self.check_by_hand(form, path, self.vkey, self.payloads)
                    self.assertEqual([row[0] for row in rows], expected)
                    self.assertIn("does not prove that the selection is complete", self.messages)
                    outcome = self.verified(path)
                    self.assertEqual(outcome["records"], len(expected))
                    self.assertIs(outcome["complete"], False)
                    text = self.good(audit("verify", "--key", self.vkey, path))
                    self.assertIn("does not prove that the selection is complete", text)
        self.assertTrue(any("settle_due" == self.records[seq]["kind"]
                            for seq, *_ in parse("csv", self.export("csv", "--table", "B2")
                                                 .read_bytes())[1]))

    def test_csv_fields_are_never_spreadsheet_formulas(self):
        key = self.write_key("key", "formula")
        journal = self.scratch / "formulas"
        with Maker(journal) as floor:
            floor.do("create", name=NAME, key=str(key), at=0)
            for table in ("=1+1", "+1", "-1", "@a", "\tx", "a,\"b\"\r\nc", "'q"):
                floor.decide(1000, "round_opened", table=table, round=1, wagers=[])
            floor.do("commit")
        vkey = verifier_key(NAME, public_key(key))
        path = self.export("csv", journal=journal)
        _, rows = self.check_by_hand("csv", path, vkey, read_journal(journal / "journal.db"))
        self.assertEqual([row[3][3] for row in rows[1:]],
                         ["'=1+1", "'+1", "'-1", "'@a", "'\tx", "a,\"b\"\r\nc", "'q"])
        self.verified(path, vkey)

    def test_a_given_key_is_checked(self):
        self.export("csv", "--key", self.vkey)
        self.refused(audit("export", "--format", "csv", "--key", self.next_vkey, "--out",
                           self.scratch / "none", self.journal), 1, "not a key that you gave")
        self.assertFalse((self.scratch / "none").exists())
        for form in FORMS:
            self.fault(audit("verify", "--key", self.next_vkey, self.export(form)),
                       "not a key that you gave")

    def test_options_that_verify_rejects_for_an_export(self):
        path = self.export("csv")
        for more in ((self.journal,), ("--since", path), ("--keep", self.scratch / "k")):
            self.refused(audit("verify", "--key", self.vkey, path, *more), 2, "export")


class LongJournal(AuditTest):
    """Blocks of 256 records, files that begin in the middle of one, proofs that cross them."""

    def test_proofs_cross_segments(self):
        key = self.write_key("key", "long")
        vkey = verifier_key(NAME, public_key(key))
        journal = self.scratch / "journal"
        at = 2000
        with Maker(journal) as floor:
            floor.do("create", name=NAME, key=str(key), at=0, snapshot_every=200)
            floor.decide(1000, "site_configured", site=SITE)
            for rounds in (5, 150, 1, 300, 120, 84):
                floor.do("fill", rounds=rounds, batch=9, at=at, step_ms=100)
                at += 200 * rounds
                floor.do("segment", at=at)
            floor.do("fill", rounds=90, batch=9, at=at, step_ms=100)
        files = files_of(journal)
        self.assertEqual(len(files), 7)
        payloads = read_journal(*files)
        size = len(payloads)
        note = last_note(journal)
        _, _, root = check_note(note, vkey, self.scratch)
        for given in range(len(files)):
            part = files[given:]
            first = min(read_journal(*part))
            for form in FORMS:
                path = self.scratch / f"{given}.{form}"
                run = audit("export", "--format", form, "--out", path, *part)
                self.good(run, quiet=False)
                header, rows = parse(form, path.read_bytes())
                self.assertEqual((header["first"], header["records"]), (first, size - first))
                self.assertEqual([row[0] for row in rows], list(range(first, size)))
                for seq, payload, proof, _ in rows:
                    self.assertEqual(payload, payloads[seq])
                    self.assertEqual(root_from_proof(seq, size, leaf_hash(payload), proof), root)
                outcome = json.loads(self.good(audit("verify", "--json", "--key", vkey, path)))
                self.assertEqual(outcome["complete"], first == 0)
            for seq in {first, size - 1, min(first + 255, size - 1)}:
                prefix = self.scratch / f"{given}-{seq}"
                self.good(audit("prove", seq, "--out", prefix, "--key", vkey, *part), quiet=False)
                self.good(audit("check-proof", f"{prefix}.record", f"{prefix}.tlog-proof", "--key",
                                vkey))
        for file in files[:-1]:  # an archive alone, with its own last checkpoint
            self.good(audit("export", "--format", "csv", "--out", f"{file}.csv", file), quiet=False)
            self.good(audit("verify", "--key", vkey, f"{file}.csv"))
        self.refused(audit("show", 0, *files[1:]), 2, "archive segment")
        self.check_damage(journal, vkey)

    def check_damage(self, journal, vkey):
        """A record or a stored node that differs from what was signed ends the export without a file."""
        for file, statement in (
                (-4, "UPDATE journal SET payload = replace(payload, '5.0', '6.0')"),
                (-4, "UPDATE node SET hash = zeroblob(32)"),
                (-4, "UPDATE node SET hash = x'00'"),
                (-4, "DELETE FROM node"),
                (-1, "UPDATE journal SET payload = replace(payload, '5.0', '6.0')")):
            with self.subTest(statement=statement, file=file):
                copy = self.scratch / "copy"
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(journal, copy, ignore=shutil.ignore_patterns("*.csv"))
                edit(files_of(copy)[file], statement)
                for form in FORMS:
                    self.refused(audit("export", "--format", form, "--out", self.scratch / "out",
                                       copy), 1, "run jackpot-audit verify")
                self.assertFalse((self.scratch / "out").exists())
                self.fault(audit("verify", "--key", vkey, copy))


class TamperedExports(ExportTest):
    """verify reports every change of an export."""

    def rejected(self, form, content, *says):
        path = self.scratch / f"bad.{form}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        run = audit("verify", "--key", self.vkey, path)
        self.assertNotEqual(run.returncode, 0, run.stdout)
        self.assertNotIn(b"fault in this program", run.stderr)
        for text in says:
            self.assertIn(text, run.stdout.decode())
        return run

    def lines(self, form, *options):
        content = self.export(form, *options).read_bytes().decode()
        end = "\n" if form == "jsonl" else "\r\n"
        self.assertTrue(content.endswith(end))
        return [line + end for line in content.split(end)[:-1]]

    def test_changed_rows_of_an_export_are_rejected(self):
        for form in FORMS:
            lines = self.lines(form)
            begin = 1 if form == "jsonl" else 2
            first, second = lines[begin + 10], lines[begin + 11]
            cut = ',"proof":[' if form == "jsonl" else '",'
            payload1, proof1 = first.rsplit(cut, 1)
            payload2, proof2 = second.rsplit(cut, 1)

            def replaced(*rows, lines=lines, begin=begin):
                return "".join(lines[:begin + 10] + list(rows) + lines[begin + 12:])

            cases = {
                "proofs swapped": replaced(payload1 + cut + proof2, payload2 + cut + proof1),
                "rows swapped": replaced(second, first),
                "a row twice": replaced(first, first, second),
                "a row gone": replaced(first),
                "a payload changed": replaced(first.replace("round", "rounD", 1), second),
                "a number changed": replaced(first.replace("10", "11", 1), second),
                "a hash less": replaced(first.rsplit("," if form == "jsonl" else " ", 1)[0]
                                        + ("]}\n" if form == "jsonl" else "\r\n"), second),
                "white space": replaced(" " + first, second),
                "the last row gone": "".join(lines[:-1]),
                "cut off": "".join(lines)[:-10],
                "no last line end": "".join(lines)[:-1],
                "an empty line": "".join(lines) + lines[0][-1],
                "a row of its own": "".join(lines) + '{"seq":200,"record":"{}","proof":[]}\n',
                "no rows": "".join(lines[:begin]),
                "no header": "".join(lines[begin:]),
                "nothing": "",
            }
            if form == "csv":
                cases["a column"] = replaced(first.replace("B", "C", 1), second)
                cases["no column names"] = "".join(lines[1:])
                cases["no checkpoint"] = "".join(lines[:1] + lines[2:])
                cases["the checkpoint twice"] = "".join(lines[:2] + lines[1:])
                cases["other line ends"] = "".join(lines).replace("\r\n", "\n")
            else:
                cases["an escape written otherwise"] = replaced(
                    first.replace("command", "\\u0063ommand", 1), second)
                cases["a hash more"] = replaced(first.replace(
                    ']}\n', ',"' + base64.b64encode(bytes(32)).decode() + '"]}\n'), second)
            for name, content in cases.items():
                with self.subTest(form=form, name=name):
                    self.assertIn(self.rejected(form, content).returncode,
                                  (1, 2) if name in ("nothing", "no header", "no column names",
                                                     "white space") else (1,))

    def test_changed_headers_of_an_export_are_rejected(self):
        other = self.scratch / "other"
        key = self.write_key("other.pem", "other")
        with Maker(other) as floor:
            floor.do("create", name=NAME, key=str(key), at=0)
        whole = self.lines("jsonl")
        header = json.loads(whole[0])
        older = self.good(audit("checkpoint", files_of(self.journal)[0]))  # genuine, but smaller
        cases = {
            "another journal's checkpoint": {"checkpoint": last_note(other)},
            "an older checkpoint": {"checkpoint": older},
            "another size": {"checkpoint": header["checkpoint"].replace(
                f"\n{self.size}\n", f"\n{self.size + 1}\n")},
            "no signature": {"checkpoint": header["checkpoint"].split("\n\n")[0] + "\n"},
            "no checkpoint": {"checkpoint": ""},
            "another key": {"keys": ["star.example/jackpot+00000000"]},
            "no keys": {"keys": []},
            "fewer records": {"records": self.size - 1},
            "negative records": {"records": -1},
            "a later first": {"first": 1},
            "another pool": {"selection": {"pool": "UTH"}},
            "another time": {"selection": {"from": MAY_1 + 1}},
            "another kind": {"selection": {"kinds": ["heartbeat"]}},
            "a field more": {"more": 1},
            "a wrong type": {"selection": []},
        }
        for name, change in cases.items():
            with self.subTest(name=name):
                line = json.dumps({**header, **change}, separators=(",", ":"), ensure_ascii=False)
                line = line.replace("\\n", "\\u000a") + "\n"
                self.assertEqual(self.rejected("jsonl", line + "".join(whole[1:])).returncode, 1)
        missing = {name: value for name, value in header.items() if name != "checkpoint"}
        self.rejected("jsonl", json.dumps(missing, separators=(",", ":")) + "\n"
                      + "".join(whole[1:]), "checkpoint")
        newer = whole[0].replace('export":1,', 'export":2,')
        self.assertEqual(self.rejected("jsonl", newer + "".join(whole[1:])).returncode, 2)

    def test_a_gap_in_a_selection_by_time_is_rejected(self):
        for form in FORMS:
            lines = self.lines(form, "--from", "2026-05-02", "--to", "2026-05-03")
            for gone in (4, len(lines) // 2):
                fewer = lines[:gone] + lines[gone + 1:]
                count = len(lines) - (1 if form == "jsonl" else 2)
                text = "".join(fewer).replace(f'records":{count}', f'records":{count - 1}')
                text = text.replace(f'records"":{count}', f'records"":{count - 1}')
                self.rejected(form, text, "is missing before it")

    def test_an_export_with_any_byte_changed_is_rejected(self):
        """One byte changed, removed or added anywhere. The seed is printed when it fails."""
        seed = int(os.environ.get("JACKPOT_TEST_SEED", random.randrange(1 << 32)))
        chance = random.Random(seed)
        for form in FORMS:
            content = self.export(form).read_bytes()
            for _ in range(120):
                at = chance.randrange(len(content))
                what = chance.choice("flip drop add double".split())
                byte = bytes([content[at] ^ (1 << chance.randrange(8))])
                changed = {"flip": content[:at] + byte + content[at + 1:],
                           "drop": content[:at] + content[at + 1:],
                           "add": content[:at] + byte + content[at:],
                           "double": content[:at] + content[at:at + 1] + content[at:]}[what]
                if changed == content:
                    continue
                with self.subTest(seed=seed, form=form, at=at, what=what):
                    self.rejected(form, changed)


if __name__ == "__main__":
    unittest.main()
