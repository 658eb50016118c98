"""jackpot-audit prove and check-proof."""

import os
import base64
import random
import unittest

from audit_support import (FloorTest, audit, check_note, last_note, leaf_hash, root_from_proof)


class Proofs(FloorTest):
    def prove(self, seq, *options):
        prefix = self.scratch / f"proof-{seq}"
        run = audit("prove", seq, "--out", prefix, *options, self.journal)
        self.assertEqual((run.returncode, run.stdout), (0, b""), run.stderr)
        return prefix.with_suffix(".record"), prefix.with_suffix(".tlog-proof")

    def check(self, record, proof, vkey=None):
        return audit("check-proof", record, proof, "--key", vkey or self.vkey)

    def test_every_record_can_be_proved(self):
        """The form of c2sp.org/tlog-proof@v1, checked by hand and by check-proof."""
        for seq in range(self.size):
            record, proof = self.prove(seq)
            self.assertEqual(record.read_bytes(), self.payloads[seq])
            text = proof.read_text()
            head, note = text.split("\n\n", 1)
            lines = head.split("\n")
            self.assertEqual(lines[:2], ["c2sp.org/tlog-proof@v1", f"index {seq}"])
            self.assertEqual(note, last_note(self.journal))
            hashes = [base64.b64decode(line) for line in lines[2:]]
            if seq % 20 == 0:
                _, size, root = check_note(note, self.vkey, self.scratch)
            self.assertEqual(root_from_proof(seq, size, leaf_hash(record.read_bytes()), hashes),
                             root)
            answer = self.good(self.check(record, proof))
            self.assertTrue(answer.startswith(f"The record is record {seq} of the journal "))

    def test_the_key_is_checked(self):
        self.prove(3, "--key", self.vkey)
        self.refused(audit("prove", 4, "--key", self.next_vkey, "--out", self.scratch / "p",
                           self.journal), 1, "not a key that you gave")
        record, proof = self.scratch / "proof-3.record", self.scratch / "proof-3.tlog-proof"
        self.refused(self.check(record, proof, self.next_vkey), 1, "not a key that you gave")
        self.good(audit("check-proof", record, proof, env={"JACKPOT_AUDIT_KEY": self.vkey}))

    def test_a_missing_record_is_an_error(self):
        run = audit("prove", self.size, "--out", self.scratch / "p", self.journal)
        self.refused(run, 2, f"no record {self.size}", f"the last is {self.size - 1}")
        self.only()

    def test_prove_writes_both_files_or_neither(self):
        for there in ("p.record", "p.tlog-proof"):
            (self.scratch / there).write_text("precious")
            self.refused(audit("prove", 3, "--out", self.scratch / "p", self.journal), 2, there)
            self.assertEqual((self.scratch / there).read_text(), "precious")
            self.only(there)
            (self.scratch / there).unlink()

    def test_unreadable_files_are_an_error(self):
        record, proof = self.prove(3)
        self.refused(self.check("/nowhere", proof), 2, "/nowhere")
        self.refused(self.check(record, "/nowhere"), 2, "/nowhere")
        self.refused(self.check(record, self.scratch), 2, str(self.scratch))

    def test_wrong_proofs_are_rejected(self):
        record, proof = self.prove(40)
        other, other_proof = self.prove(41)
        text = proof.read_text()
        hashes = text.split("\n\n")[0].split("\n")[2:]
        note = text.split("\n\n", 1)[1]
        flipped = base64.b64encode(bytes(32)).decode()
        cases = {
            "another record": (other.read_bytes(), text),
            "another proof": (record.read_bytes(), other_proof.read_text()),
            "a byte more": (record.read_bytes() + b"\n", text),
            "an empty record": (b"", text),
            "an empty proof": (record.read_bytes(), ""),
            "another index": (record.read_bytes(), text.replace("index 40", "index 41")),
            "an index out of range": (record.read_bytes(), text.replace("index 40", "index 4000")),
            "no index": (record.read_bytes(), text.replace("index 40\n", "")),
            "another version": (record.read_bytes(), text.replace("@v1", "@v2")),
            "a hash less": (record.read_bytes(), text.replace(hashes[-1] + "\n", "")),
            "a hash more": (record.read_bytes(), text.replace(hashes[-1], hashes[-1] + "\n"
                                                              + flipped)),
            "another hash": (record.read_bytes(), text.replace(hashes[2], flipped)),
            "hashes exchanged": (record.read_bytes(), text.replace(
                f"{hashes[0]}\n{hashes[1]}\n", f"{hashes[1]}\n{hashes[0]}\n")),
            "no checkpoint": (record.read_bytes(), text.split("\n\n")[0] + "\n\n"),
            "another size": (record.read_bytes(), text.replace(f"\n{self.size}\n",
                                                               f"\n{self.size + 1}\n")),
            "no signature": (record.read_bytes(), text.rsplit("\u2014", 1)[0]),
            "cut off": (record.read_bytes(), text[:-8]),
            "something after": (record.read_bytes(), text + "x"),
            "other line ends": (record.read_bytes(), text.replace("\n", "\r\n")),
            "a note alone": (record.read_bytes(), note),
        }
        for name, (data, proof_text) in cases.items():
            with self.subTest(name=name):
                (self.scratch / "record").write_bytes(data)
                (self.scratch / "proof").write_bytes(proof_text.encode())
                self.refused(self.check(self.scratch / "record", self.scratch / "proof"), 1,
                             "does not prove")

    def test_a_proof_with_any_byte_changed_is_rejected(self):
        seed = int(os.environ.get("JACKPOT_TEST_SEED", random.randrange(1 << 32)))
        chance = random.Random(seed)
        record, proof = self.prove(50)
        good = {record: record.read_bytes(), proof: proof.read_bytes()}
        for _ in range(100):
            for path, content in good.items():
                at = chance.randrange(len(content))
                changed = bytearray(content)
                changed[at] ^= 1 << chance.randrange(8)
                path.write_bytes(changed)
                with self.subTest(seed=seed, file=path.name, at=at):
                    self.refused(self.check(record, proof), 1)
                path.write_bytes(content)
        self.good(self.check(record, proof))


if __name__ == "__main__":
    unittest.main()
