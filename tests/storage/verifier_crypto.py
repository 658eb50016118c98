"""Signatures, the tree and signed notes of a journal, for verifier.py."""

import base64
import binascii
import functools
import hashlib
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

NODE_LEVEL = 8


class Fault(Exception):
    """A fault, with the number of its record; without a number it concerns the file."""

    def __init__(self, what, seq=None, file=None):
        super().__init__(what)
        self.what, self.seq, self.file = what, seq, file

    def __str__(self):
        return f"record {self.seq}: {self.what}" if self.seq is not None else f"{self.file}: {self.what}"


class Malformed(Exception):
    """A malformed text; it becomes a Fault where its place is known."""


# --- texts of bytes and numbers ------------------------------------------------------------------------------

def decode_base64(text, length=None):
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Malformed("not base64") from None
    if base64.b64encode(data).decode() != text:
        raise Malformed("base64 in another form than the only one allowed")
    if length is not None and len(data) != length:
        raise Malformed(f"{len(data)} bytes where there should be {length}")
    return data


def decode_utf8(data, what):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed(f"{what} is not UTF-8") from None


def parse_decimal(text):
    if not re.fullmatch(r"0|[1-9][0-9]*", text, re.ASCII) or len(text) > 19 or int(text) >= 1 << 63:
        raise Malformed("not a whole number in its only form")
    return int(text)


# --- Ed25519, RFC 8032 section 5.1, verification alone -------------------------------------------------------

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_MINUS_1 = pow(2, (P - 1) // 4, P)
WINDOW = 6


def decode_point(data):
    """Extended coordinates, or None."""
    y = int.from_bytes(data, "little")
    sign = y >> 255
    y &= (1 << 255) - 1
    if y >= P:
        return None
    numerator, denominator = (y * y - 1) % P, (D * y * y + 1) % P
    x = numerator * pow(denominator, 3, P) * pow(numerator * pow(denominator, 7, P), (P - 5) // 8, P) % P
    if (denominator * x * x - numerator) % P:
        x = x * SQRT_MINUS_1 % P
    if (denominator * x * x - numerator) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def add_points(a, b):
    return add_ready(a, ready(b))


def ready(point):
    x, y, z, t = point
    return (y - x) % P, (y + x) % P, 2 * D * t % P, 2 * z % P


def add_ready(point, other):
    x, y, z, t = point
    minus, plus, t2d, z2 = other
    a, b, c, d = (y - x) * minus % P, (y + x) * plus % P, t * t2d % P, z * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


class Multiples:
    """Multiples of one point, so that a product with any scalar is a sum of about 43 of them."""

    def __init__(self, point):
        self.rows = []
        for _ in range(0, 256, WINDOW):
            row, multiple = [None], point
            for _ in range((1 << WINDOW) - 1):
                row.append(ready(multiple))
                multiple = add_ready(multiple, row[1])
            self.rows.append(row)
            point = multiple

    def add_product(self, scalar, to):
        for row in self.rows:
            digit = scalar & ((1 << WINDOW) - 1)
            if digit:
                to = add_ready(to, row[digit])
            scalar >>= WINDOW
        return to


@functools.cache
def base_multiples():
    return Multiples(decode_point((4 * pow(5, -1, P) % P).to_bytes(32, "little")))


@functools.lru_cache(maxsize=64)
def negated_multiples(public_key):
    point = decode_point(public_key)
    if point is None:
        return None
    x, y, z, t = point
    return Multiples((P - x, y, z, P - t))


@functools.lru_cache(maxsize=100_000)
def ed25519_holds(public_key, message, signature):
    multiples = negated_multiples(public_key)
    scalar = int.from_bytes(signature[32:], "little")
    if multiples is None or len(signature) != 64 or scalar >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    total = base_multiples().add_product(scalar, (0, 1, 1, 0))
    total = multiples.add_product(int.from_bytes(digest, "little") % ORDER, total)
    inverse = pow(total[2], -1, P)
    x, y = total[0] * inverse % P, total[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]


@functools.lru_cache(maxsize=100_000)
def openssl_holds(public_key, message, signature):
    der = bytes.fromhex("302a300506032b6570032100") + public_key
    pem = f"-----BEGIN PUBLIC KEY-----\n{base64.b64encode(der).decode()}\n-----END PUBLIC KEY-----\n"
    with tempfile.TemporaryDirectory(prefix="verifier.") as directory:
        scratch = Path(directory)
        (scratch / "key").write_text(pem)
        (scratch / "text").write_bytes(message)
        (scratch / "signature").write_bytes(signature)
        run = subprocess.run(
            ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", scratch / "key", "-rawin",
             "-in", scratch / "text", "-sigfile", scratch / "signature"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return run.returncode == 0 and b"Signature Verified Successfully" in run.stdout


# --- the tree, RFC 6962 section 2.1 --------------------------------------------------------------------------

def leaf_hash(payload):
    return hashlib.sha256(b"\0" + payload).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


class Frontier:
    """The roots of the largest complete subtrees, the largest first."""

    def __init__(self, size=0, edge=()):
        self.size, self.edge = size, list(edge)

    @classmethod
    def parse(cls, text):
        lines = decode_utf8(text, "the frontier").split("\n")
        if len(lines) < 2 or lines.pop():
            raise Malformed("the frontier's last line has no newline")
        size = parse_decimal(lines[0])
        if len(lines) - 1 != size.bit_count():
            raise Malformed(f"the frontier has {len(lines) - 1} hashes, its size needs {size.bit_count()}")
        return cls(size, [decode_base64(line, 32) for line in lines[1:]])

    def text(self):
        lines = [str(self.size)] + [base64.b64encode(each).decode() for each in self.edge]
        return "".join(line + "\n" for line in lines).encode()

    def append(self, leaf):
        """Returns the root of the subtree of level NODE_LEVEL that this completes, or None."""
        node, completed, level, index = leaf, None, 0, self.size
        while index & 1:
            node = node_hash(self.edge.pop(), node)
            index >>= 1
            level += 1
            if level == NODE_LEVEL:
                completed = node
        self.edge.append(node)
        self.size += 1
        return completed

    def root(self):
        if not self.edge:
            return hashlib.sha256(b"").digest()
        return functools.reduce(lambda right, left: node_hash(left, right), reversed(self.edge))


# --- keys and notes, C2SP signed-note and tlog-checkpoint ----------------------------------------------------

SPACES = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")


@dataclass(frozen=True)
class Key:
    name: str
    key_id: bytes
    public: bytes

    @classmethod
    def parse(cls, text):
        parts = text.split("+", 2)
        if len(parts) != 3 or not parts[0] or SPACES.search(parts[0]) or re.search("[\0-\x1f]", parts[0]):
            raise Malformed("not a verifier key: name+id+key")
        typed = decode_base64(parts[2], 33)
        if typed[0] != 1:
            raise Malformed("not a verifier key of type 1, Ed25519")
        key_id = hashlib.sha256(parts[0].encode() + b"\n" + typed).digest()[:4]
        if parts[1] != key_id.hex():
            raise Malformed("a verifier key whose id is not that of its name and key")
        return cls(parts[0], key_id, typed[1:])

    def __str__(self):
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(bytes([1]) + self.public).decode()}"


@dataclass
class Checkpoint:
    origin: str
    size: int
    root: bytes
    text: bytes
    signatures: list  # of (name, key id, signature)

    @classmethod
    def parse(cls, note):
        text = decode_utf8(note, "the note")
        if re.search("[\0-\x09\x0b-\x1f]", text):
            raise Malformed("the note has a control character")
        body, blank, tail = text.rpartition("\n\n")
        if not blank or not tail.endswith("\n"):
            raise Malformed("the note has no signature after a blank line")
        lines = body.split("\n")
        if len(lines) != 3 or not lines[0]:
            raise Malformed("the note's text is not the three lines of a checkpoint")
        signatures = []
        for line in tail[:-1].split("\n"):
            match = re.fullmatch("\u2014 ([^ ]+) ([^ ]+)", line)
            if not match:
                raise Malformed("the note has a line that is no signature")
            data = decode_base64(match[2])
            signatures.append((match[1], data[:4], data[4:]))
        return cls(lines[0], parse_decimal(lines[1]), decode_base64(lines[2], 32),
                   (body + "\n").encode(), signatures)
