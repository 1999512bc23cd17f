"""RFC 8785 canonical JSON and the byte layouts of fingerprints and derived keys, in Python alone.

Independent of the Rust code on purpose: what two programs that share nothing agree on is probably what the contract says (F1 to F4, F6).
"""

import hashlib
import json
import math
import re


class Refused(ValueError):
    """The text has no canonical form that every language would agree on (F1)."""


def members(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise Refused("duplicate member name")
    return dict(pairs)


def integer(literal):
    value = int(literal)
    try:
        double = float(value)
    except OverflowError as error:
        raise Refused("no finite double") from error
    if int(double) != value:
        raise Refused("an integer that a double cannot hold")
    return double


def decimal(literal):
    value = float(literal)
    if math.isinf(value):
        raise Refused("no finite double")
    return value


def constant(literal):
    raise Refused(f"{literal} is not JSON")


def parse(raw):
    """Bytes of JSON to values. Every number becomes a double."""
    try:
        text = raw.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise Refused("not UTF-8") from error
    try:
        value = json.loads(text, object_pairs_hook=members, parse_int=integer, parse_float=decimal, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise Refused("not JSON") from error
    return value


def number(value):
    """ECMAScript's Number::toString, from Python's shortest digits."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    digits, exponent = shortest(abs(value))
    point = exponent + 1
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    rest = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if exponent > 0 else '-'}{abs(exponent)}"


def shortest(value):
    """The fewest digits that read back as this double, and the power of ten of the first."""
    whole = repr(value)
    mantissa, _, power = whole.partition("e")
    before, _, after = mantissa.partition(".")
    digits = (before + after).lstrip("0")
    leading_zeros = len(before + after) - len(digits)
    exponent = len(before) - 1 - leading_zeros + int(power or 0)
    return digits.rstrip("0"), exponent


ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def string(value):
    if any(0xD800 <= ord(c) <= 0xDFFF for c in value):
        raise Refused("lone surrogate")
    return '"' + "".join(ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in value) + '"'


def canonical(value):
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return number(value)
    if isinstance(value, str):
        return string(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    for name in value:
        string(name)
    in_order = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(string(name) + ":" + canonical(value[name]) for name in in_order) + "}"


def tokens(pointer):
    if pointer and not pointer.startswith("/"):
        raise Refused("not a JSON pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def place(value, path):
    """The container and the key of what a pointer names, or None where it names nothing (RFC 6901)."""
    for at, token in enumerate(path):
        if isinstance(value, list):
            if not re.fullmatch(r"0|[1-9]\d*", token) or int(token) >= len(value):
                return None
            token = int(token)
        elif not isinstance(value, dict) or token not in value:
            return None
        if at == len(path) - 1:
            return value, token
        value = value[token]
    return None


def left_out(value, pointers):
    """F4: what the pointers name is removed; all of them are looked up in the value as it was given."""
    found = [place(value, tokens(pointer)) for pointer in dict.fromkeys(pointers)]
    for container, key in sorted(
        (entry for entry in found if entry), key=lambda entry: entry[1] if isinstance(entry[1], int) else -1, reverse=True
    ):
        if isinstance(container, list) or key in container:
            del container[key]
    return value


def taken(value, pointers):
    """F4: pairs of a pointer and what it names, sorted by the pointer's bytes."""
    pairs = []
    for pointer in sorted(set(pointers), key=lambda text: text.encode()):
        found = place(value, tokens(pointer)) if pointer else ([value], 0)
        if found:
            container, key = found
            pairs.append([pointer, container[key]])
    return pairs


def json_bytes(raw, leave_out=None, only=None):
    value = parse(raw)
    if leave_out is not None:
        value = left_out(value, leave_out)
    if only is not None:
        value = taken(value, only)
    return canonical(value).encode()


def frames(*parts):
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def of_bytes(parts):
    return sha256(frames(b"keyledger/bytes/1", *parts))


def query_in_order(query):
    pieces = [piece for piece in query.split("&") if piece]
    return "&".join(sorted(pieces, key=lambda piece: piece.partition("=")[0].encode()))


def of_http(method, path, query, content_type, body, leave_out=None, only=None):
    essence = content_type.partition(";")[0].strip().lower()
    kind, part = "raw:" + essence, body
    if essence == "application/json" or essence.endswith("+json"):
        try:
            kind, part = "json", json_bytes(body, leave_out, only)
        except Refused:
            pass
    texts = [text.encode() for text in ("keyledger/http/1", method, path, query_in_order(query), kind)]
    return sha256(frames(*texts, part))


def derived(namespace, parts):
    digest = bytearray(hashlib.sha256(frames(b"keyledger/derive/1", namespace.encode(), *parts)).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
