#!/usr/bin/env python3
"""Writes vectors.json: fingerprints and derived keys with the bytes that every language must come to (section 8 of the contract).

`python3 vectors.py` writes the file, `python3 vectors.py --check` fails when it is not what this script would write.
Inputs stand here, hashes come from canonical.py, which shares nothing with the Rust code.
"""

import json
import pathlib
import struct
import sys

import canonical as c

HERE = pathlib.Path(__file__).parent

# RFC 8785, section 3.2.2 and 3.2.3: the samples, and what the RFC says they become.
RFC_SAMPLES = [
    (
        "RFC 8785 section 3.2.2",
        r"""{
  "numbers": [333333333.33333329, 1E30, 4.50,
              2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}""",
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    ),
    (
        "RFC 8785 section 3.2.3",
        r"""{
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
}""",
        '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis",'
        '"\u20ac":"Euro Sign","\U0001f600":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ),
]

# RFC 8785, appendix B: the bits of a double, and how it is written. None: an error.
RFC_NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("7fffffffffffffff", None),
    ("7ff0000000000000", None),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]

TEXTS = [
    ("null", "null"),
    ("an empty object", "{}"),
    ("an empty array", " [ ] "),
    ("an empty string", '""'),
    ("white space does not count", ' {\r\n\t"b" : [ 1 , 2 ] , "a" : null } '),
    ("the order of members does not count", '{"b":1,"a":2,"c":{"z":true,"y":false}}'),
    ("the order of items counts", "[3,1,2]"),
    ("an integer, a fraction and an exponent of one value", "[1,1.0,1e0,10e-1,0.1E1]"),
    ("minus zero is zero", "[-0,-0.0,0e5,-0e-5]"),
    ("integers up to what a double holds", "[9007199254740991,9007199254740992,-9007199254740992]"),
    ("greater integers that a double holds exactly", "[9007199254740994,18446744073709551616,10000000000000000000000]"),
    ("an integer written by its exact digits, canonically by fewer", "295147905179352825856"),
    ("a number with a fraction is the nearest double", "[0.1,0.30000000000000004,1.00000000000000011,123456789.123456789]"),
    ("a number too small for a double is zero", "[1e-400,-1e-400]"),
    ("the greatest and the least double", "[1.7976931348623157e308,5e-324]"),
    ("where exponents begin", "[1e20,1e21,123e19,0.000001,0.0000001,1.5e-7]"),
    ("escapes are of the shortest kind", r'"\u0000\u0001\u0008\u0009\u000a\u000b\u000c\u000d\u001f\u0020\u0022\u002f\u005c\u007f"'),
    ("escaped or not, a character is the same", r'["\u00e9","\u0041","\/"]'),
    ("no normalisation", r'["\u00e9","e\u0301"]'),
    ("a pair of surrogates is a character", r'"\ud83d\ude00"'),
    ("members sort by UTF-16 code units, not by code points", r'{"\ufb33":1,"\ud83d\ude00":2,"z":3}'),
    ("a shorter name sorts first", '{"aa":1,"a":2,"":3,"ab":4}'),
    ("names that differ by case are two", '{"a":1,"A":2}'),
    ("equal names in two objects are no duplicates", '[{"a":1},{"a":1},{"a":{"a":1}}]'),
    ("noncharacters are characters", r'"\uffff\ufffe"'),
]

REFUSED = [
    ("duplicate member names", '{"a":1,"a":1}'),
    ("duplicate member names of other values", '{"a":1,"b":2,"a":3}'),
    ("duplicate member names within", '[{"x":{"a":1,"a":2}}]'),
    ("duplicate member names, one of them escaped", r'{"a":1,"\u0061":2}'),
    ("an integer that a double cannot hold", "9007199254740993"),
    ("a negative integer that a double cannot hold", "[-9007199254740993]"),
    ("the greatest integer of 64 bits", "18446744073709551615"),
    ("an integer of 24 digits that a double cannot hold", "100000000000000000000000"),
    ("the canonical digits of a great integer, which are not its exact ones", "295147905179352830000"),
    ("an integer beyond every double", "1" + "0" * 400),
    ("a number beyond every double", "1e400"),
    ("a negative number beyond every double", "-1e400"),
    ("not a number", "NaN"),
    ("infinity", "[Infinity]"),
    ("minus infinity", "-Infinity"),
    ("a lone high surrogate", r'"\ud83d"'),
    ("a lone low surrogate", r'"\ude00"'),
    ("surrogates in the wrong order", r'"\ude00\ud83d"'),
    ("a high surrogate before another escape", r'"\ud83d\u0041"'),
    ("a lone surrogate in a name", r'{"\ud800":1}'),
    ("a surrogate in the bytes", b'"\xed\xa0\x80"'),
    ("bytes that are no UTF-8", b'"\xff"'),
    ("an overlong sequence", b'"\xc0\xaf"'),
    ("nothing", ""),
    ("white space alone", " \n"),
    ("two values", "1 2"),
    ("something after the value", "{}x"),
    ("a trailing comma in an array", "[1,]"),
    ("a trailing comma in an object", '{"a":1,}'),
    ("a name without quotes", "{a:1}"),
    ("single quotes", "'a'"),
    ("a leading zero", "01"),
    ("a plus sign", "+1"),
    ("a point without digits before it", ".5"),
    ("a point without digits after it", "1."),
    ("an exponent without digits", "1e"),
    ("hexadecimal", "0x10"),
    ("a control character that is not escaped", '"a\nb"'),
    ("an unknown escape", r'"\x41"'),
    ("an escape of three digits", r'"\u004"'),
    ("a byte order mark", b"\xef\xbb\xbf{}"),
    ("a comment", "{} // x"),
    ("a string that does not end", '"a'),
    ("an array that does not end", "[1"),
    ("a word in capitals", "True"),
]

ORDER = '{"id":"r1","at":17,"order":{"items":[{"sku":"a","n":1},{"sku":"b","n":2}],"a/b":1,"m~n":2,"":3},"note":null}'
POINTERS = [
    ("leave out one member", ORDER, "leave_out", ["/at"]),
    ("leave out several", ORDER, "leave_out", ["/at", "/id", "/order/items/1/n"]),
    ("leave out nothing", ORDER, "leave_out", []),
    ("leave out what is not there", ORDER, "leave_out", ["/nope", "/order/items/7", "/order/items/-", "/id/x", "/order/items/00"]),
    ("leave out a member with a slash, one with a tilde, one without a name", ORDER, "leave_out", ["/order/a~1b", "/order/m~0n", "/order/"]),
    ("leave out an item of an array", ORDER, "leave_out", ["/order/items/0"]),
    ("leave out two items of an array, both counted in the value as it came", ORDER, "leave_out", ["/order/items/0", "/order/items/1"]),
    ("leave out a member, and one within it", ORDER, "leave_out", ["/order", "/order/items/0"]),
    ("take one member", ORDER, "only", ["/order/items/0/sku"]),
    ("take several, in whatever order they are named", ORDER, "only", ["/order/items", "/id", "/note"]),
    ("take the same in another order", ORDER, "only", ["/note", "/id", "/order/items"]),
    ("take what is not there", ORDER, "only", ["/nope"]),
    ("take some of what is not there", ORDER, "only", ["/nope", "/id"]),
    ("take nothing", ORDER, "only", []),
    ("a member that is null is there", ORDER, "only", ["/note"]),
    ("take members with a slash and a tilde", ORDER, "only", ["/order/a~1b", "/order/m~0n", "/order/"]),
]

PARTS = [
    ("no part", []),
    ("one empty part", [b""]),
    ("two empty parts", [b"", b""]),
    ("one part", [b"ab"]),
    ("the same bytes in two parts", [b"a", b"b"]),
    ("the same bytes, an empty part before them", [b"", b"ab"]),
    ("the same bytes, an empty part after them", [b"ab", b""]),
    ("a part that looks like a frame", [c.frames(b"a", b"b")]),
    ("any bytes", [bytes(range(256)), b"\x00"]),
    ("a long part", [b"x" * 1000]),
]

J = "application/json"
HTTP = [
    ("a JSON body", "POST", "/v1/charges", "", J, b'{"amount":10,"to":"ann"}', {}),
    ("the same JSON in other white space and order", "POST", "/v1/charges", "", J, b'{ "to": "ann", "amount": 1e1 }', {}),
    ("a charset does not count", "POST", "/v1/charges", "", "Application/JSON; charset=utf-8", b'{"amount":10,"to":"ann"}', {}),
    ("another media type of JSON", "POST", "/v1/charges", "", "application/merge-patch+json", b'{"amount":10,"to":"ann"}', {}),
    ("the same bytes as text", "POST", "/v1/charges", "", "text/plain", b'{"amount":10,"to":"ann"}', {}),
    ("the same bytes without a content type", "POST", "/v1/charges", "", "", b'{"amount":10,"to":"ann"}', {}),
    ("another method", "PUT", "/v1/charges", "", J, b'{"amount":10,"to":"ann"}', {}),
    ("a method in lower case is another", "post", "/v1/charges", "", J, b'{"amount":10,"to":"ann"}', {}),
    ("another path", "POST", "/v1/charges/", "", J, b'{"amount":10,"to":"ann"}', {}),
    ("a path is not decoded", "POST", "/v1/%63harges", "", J, b'{"amount":10,"to":"ann"}', {}),
    ("JSON that F1 refuses is hashed as it is", "POST", "/v1/charges", "", J, b'{"a":1,"a":2}', {}),
    ("the same refused JSON in other white space is another", "POST", "/v1/charges", "", J, b'{"a":1, "a":2}', {}),
    ("a body that is no JSON at all", "POST", "/v1/charges", "", J, b"\xff\x00", {}),
    ("no body", "POST", "/v1/charges", "", J, b"", {}),
    ("a form", "POST", "/f", "", "application/x-www-form-urlencoded", b"a=1&b=2", {}),
    ("a query", "POST", "/q", "a=1&b=2", "", b"", {}),
    ("the order of different names does not count", "POST", "/q", "b=2&a=1", "", b"", {}),
    ("empty pieces do not count", "POST", "/q", "&&a=1&&b=2&", "", b"", {}),
    ("the order of one name's values is kept", "POST", "/q", "a=2&a=1&b=0", "", b"", {}),
    ("the other order of one name's values is another", "POST", "/q", "a=1&b=0&a=2", "", b"", {}),
    ("a name without a value sorts by its name", "POST", "/q", "b&a=1&b=2", "", b"", {}),
    ("a query is not decoded", "POST", "/q", "%61=1&b=2", "", b"", {}),
    ("members left out", "POST", "/p", "", J, b'{"at":1,"id":2}', {"leave_out": ["/at"]}),
    ("the member left out may differ", "POST", "/p", "", J, b'{"id":2,"at":9}', {"leave_out": ["/at"]}),
    ("members taken", "POST", "/p", "", J, b'{"at":1,"id":2}', {"only": ["/id"]}),
    ("pointers do not look into what is no JSON", "POST", "/p", "", "text/plain", b'{"at":1,"id":2}', {"only": ["/id"]}),
]

SAME = [
    ("http", "a JSON body", "the same JSON in other white space and order"),
    ("http", "a JSON body", "a charset does not count"),
    ("http", "a JSON body", "another media type of JSON"),
    ("http", "a query", "the order of different names does not count"),
    ("http", "a query", "empty pieces do not count"),
    ("http", "members left out", "the member left out may differ"),
    ("pointers", "take several, in whatever order they are named", "take the same in another order"),
    ("pointers", "leave out nothing", "leave out what is not there"),
    ("pointers", "take nothing", "take what is not there"),
]

DERIVED = [
    ("no part", "bank", []),
    ("one part", "bank", [b"order-17"]),
    ("an empty part", "bank", [b""]),
    ("an empty namespace", "", [b"order-17"]),
    ("the same bytes in two parts", "bank", [b"order", b"-17"]),
    ("the same bytes, the border elsewhere", "bankorder", [b"-17"]),
    ("a namespace outside ASCII", "caf\u00e9", [b"\x00\xff"]),
]
CLAIMS = [
    ("tenant-1", "charge", "key-1", "bank"),
    ("tenant-1", "charge", "key-1", "mail"),
    ("tenant-1", "charge", "key-2", "bank"),
    ("tenant-2", "charge", "key-1", "bank"),
    ("tenant-1", "POST /v1/charges", "6f1b2a0e", ""),
    ("caf\u00e9", "\u20ac", "\U0001f600", "\u00df"),
]


def double(bits):
    return struct.unpack(">d", bytes.fromhex(bits))[0]


def raw(text):
    return text if isinstance(text, bytes) else text.encode()


def shown(text):
    return {"hex": text.hex()} if isinstance(text, bytes) else {"text": text}


def accepted(name, text, said=None):
    canonical = c.json_bytes(raw(text)).decode()
    if said is not None and canonical != said:
        raise SystemExit(f"{name}: {canonical} is not what the RFC says: {said}")
    return {"name": name, **shown(text), "canonical": canonical, "sha256": c.sha256(canonical.encode())}


def refused(name, text):
    try:
        c.json_bytes(raw(text))
    except c.Refused as reason:
        return {"name": name, **shown(text), "reason": str(reason)}
    raise SystemExit(f"{name}: is not refused")


def numbered(bits, said):
    """The number as a text with seventeen digits and an exponent, which every parser reads as that double."""
    if said is None:
        return {"bits": bits, "error": True}
    text = f"{double(bits):.16e}"
    return {"bits": bits, **{k: v for k, v in accepted(bits, text, said).items() if k != "name"}}


def pointed(name, text, how, pointers):
    canonical = c.json_bytes(text.encode(), **{how: pointers}).decode()
    return {"name": name, "text": text, how: pointers, "canonical": canonical, "sha256": c.sha256(canonical.encode())}


def http(name, method, path, query, content_type, body, pointers):
    request = {"method": method, "path": path, "query": query, "content_type": content_type, "body_hex": body.hex()}
    return {"name": name, **request, **pointers, "sha256": c.of_http(method, path, query, content_type, body, **pointers)}


def all_vectors():
    return {
        "json": [accepted(*case) for case in RFC_SAMPLES + TEXTS],
        "numbers": [numbered(*case) for case in RFC_NUMBERS],
        "refused": [refused(*case) for case in REFUSED],
        "pointers": [pointed(*case) for case in POINTERS],
        "bytes": [{"name": name, "parts_hex": [p.hex() for p in parts], "sha256": c.of_bytes(parts)} for name, parts in PARTS],
        "http": [http(*case) for case in HTTP],
        "same": [{"of": of, "names": list(names)} for of, *names in SAME],
        "derive": [
            {"name": name, "namespace": space, "parts_hex": [p.hex() for p in parts], "key": c.derived(space, parts)}
            for name, space, parts in DERIVED
        ],
        "claim_derive": [
            {"scope": s, "operation": o, "key": k, "name": n, "derived": c.derived(s, [o.encode(), k.encode(), n.encode()])}
            for s, o, k, n in CLAIMS
        ],
    }


def text_of(vectors):
    lists = [
        f"  {json.dumps(title)}: [\n" + ",\n".join("    " + json.dumps(case) for case in cases) + "\n  ]"
        for title, cases in vectors.items()
    ]
    return "{\n" + ",\n".join(lists) + "\n}\n"


def held(vectors):
    """Vectors said to be the same are, and all others of their list differ."""
    for of in ("bytes", "http", "pointers"):
        groups = {}
        for case in vectors[of]:
            groups.setdefault(case["sha256"], set()).add(case["name"])
        said = [set(entry["names"]) for entry in vectors["same"] if entry["of"] == of]
        for group in groups.values():
            reached = {next(iter(group))}
            for _ in group:
                reached |= {name for pair in said if pair & reached for name in pair}
            if len(group) > 1 and not group <= reached:
                raise SystemExit(f"{of}: equal, and not said to be: {sorted(group)}")
        for pair in said:
            if not any(pair <= group for group in groups.values()):
                raise SystemExit(f"{of}: said to be equal, and not: {sorted(pair)}")


def main():
    vectors = all_vectors()
    held(vectors)
    path, text = HERE / "vectors.json", text_of(vectors)
    if "--check" in sys.argv[1:]:
        if path.read_text() != text:
            raise SystemExit("vectors.json is not what vectors.py writes: run it without --check")
    else:
        path.write_text(text)
    print(", ".join(f"{len(cases)} {title}" for title, cases in vectors.items()))


if __name__ == "__main__":
    main()
