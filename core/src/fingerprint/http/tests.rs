use super::super::Fingerprint;
use super::*;

fn charge<'a>() -> HttpRequest<'a> {
    HttpRequest {
        method: b"POST",
        path: b"/v1/charges",
        query: b"",
        content_type: Some(b"application/json"),
        body: br#"{"amount": 12.50, "to": "bob"}"#,
    }
}

fn of(request: &HttpRequest<'_>) -> Fingerprint {
    Fingerprint::of_http(request, &Members::All)
}

fn with_query(query: &str) -> Fingerprint {
    of(&HttpRequest { query: query.as_bytes(), ..charge() })
}

fn with_body(content_type: Option<&str>, body: &str) -> Fingerprint {
    of(&HttpRequest { content_type: content_type.map(str::as_bytes), body: body.as_bytes(), ..charge() })
}

// F3: computed with Python's hashlib, from the layout in this module's words alone.
#[test]
fn fingerprints_of_requests_are_the_same_in_every_language() {
    let json = HttpRequest { query: b"b=2&a=1&b=1", ..charge() };
    assert_eq!(of(&json).hex().as_deref(), Some("7bfbfc83cee62f4491fde66bf9a547b374e548448219fae7b9d44cba55657fbe"));
    let raw = HttpRequest { content_type: Some(b"Text/Plain; charset=utf-8"), body: b"pay bob\n", ..charge() };
    assert_eq!(of(&raw).hex().as_deref(), Some("824e0230910eaa1b16d76ab03ef9d02b9e288fcb43d3ddf1bc0ae632badc3eaa"));
    let empty = HttpRequest { method: b"DELETE", path: b"/v1/charges/7", ..HttpRequest::default() };
    assert_eq!(of(&empty).hex().as_deref(), Some("f168b8407f268594a50862a0def01c8e9f0642b0c120c435cbd224d8c15450b8"));
}

// F3.
#[test]
fn json_bodies_count_by_what_they_say() {
    let expected = of(&charge());
    for content_type in
        ["application/json", "Application/JSON ; charset=utf-8", "application/vnd.bank+json", " text/x+JSON;a=b"]
    {
        assert_eq!(with_body(Some(content_type), r#"{"to":"b\u006fb","amount":12.5}"#), expected, "{content_type}");
    }
    assert_ne!(with_body(Some("application/json"), r#"{"to":"bob","amount":12.51}"#), expected);
}

// F3.
#[test]
fn a_body_that_f1_refuses_counts_byte_for_byte() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    for body in ["", "{", "9007199254740993", r#"{"a":1,"a":2}"#, r#""\ud800""#, "1e400", &deep] {
        let json = |body: &str| with_body(Some("application/json"), body);
        assert_eq!(json(body), json(body));
        assert_ne!(json(body), json(&format!("{body} ")), "{body:?}");
        // The tag tells such a body from a JSON string that has the same bytes, and from another media type.
        assert_ne!(json(body), with_body(Some("application/octet-stream"), body), "{body:?}");
    }
}

// F3.
#[test]
fn other_bodies_count_byte_for_byte_under_their_media_type() {
    let json = r#"{"a": 1}"#;
    let spaced = r#"{"a":1}"#;
    for content_type in [None, Some(""), Some("text/plain"), Some("application/jsonp"), Some("application/json-patch")]
    {
        assert_ne!(with_body(content_type, json), with_body(content_type, spaced), "{content_type:?}");
    }
    assert_ne!(with_body(Some("text/plain"), json), with_body(Some("text/html"), json));
    assert_eq!(with_body(Some("TEXT/plain; charset=latin1"), json), with_body(Some("text/plain"), json));
    assert_eq!(with_body(None, json), with_body(Some(""), json));
    // Canonical already, so that the bytes are the same under both kinds.
    assert_ne!(with_body(Some("application/json"), spaced), with_body(Some("text/plain"), spaced));
    assert_ne!(of(&HttpRequest { content_type: None, body: b"\xff", ..charge() }), with_body(None, "\u{ff}"));
}

// F3.
#[test]
fn the_order_of_different_names_in_the_query_does_not_count() {
    assert_eq!(with_query("a=1&b=2"), with_query("b=2&a=1"));
    assert_eq!(with_query("a=1&&b=2&"), with_query("b=2&a=1"));
    assert_eq!(with_query("b&a=&c=1=2"), with_query("c=1=2&a=&b"));
    assert_eq!(with_query("&"), with_query(""));
}

// F3.
#[test]
fn the_order_of_repeated_names_and_every_byte_of_the_query_count() {
    assert_ne!(with_query("a=1&a=2"), with_query("a=2&a=1"));
    assert_eq!(with_query("a=1&b=0&a=2"), with_query("b=0&a=1&a=2"));
    for (left, right) in
        [("a", "a="), ("a=1", "a=1%20"), ("a=%41", "a=A"), ("A=1", "a=1"), ("a=1&a=1", "a=1"), ("", "a")]
    {
        assert_ne!(with_query(left), with_query(right), "{left} {right}");
    }
}

// F3.
#[test]
fn method_and_path_count_as_they_came() {
    let base = charge();
    for other in [
        HttpRequest { method: b"post", ..base },
        HttpRequest { path: b"/v1/charges/", ..base },
        HttpRequest { path: b"/v1/%63harges", ..base },
        HttpRequest { path: b"/v1/charges?a=1", ..base },
        HttpRequest { method: b"POST/", path: b"v1/charges", ..base },
    ] {
        assert_ne!(of(&other), of(&base), "{other:?}");
    }
}

// F4.
#[test]
fn members_look_into_json_bodies_alone() {
    let members = Members::leave_out(["/at"]).unwrap();
    let of = |content_type: &'static [u8], body: &'static [u8]| {
        Fingerprint::of_http(&HttpRequest { content_type: Some(content_type), body, ..charge() }, &members)
    };
    assert_eq!(of(b"application/json", br#"{"a":1,"at":1}"#), of(b"application/json", br#"{"at":2,"a":1}"#));
    assert_ne!(of(b"text/plain", br#"{"a":1,"at":1}"#), of(b"text/plain", br#"{"a":1,"at":2}"#));
    assert_ne!(of(b"application/json", br#"{"at":1,"at":1}"#), of(b"application/json", br#"{"at":1,"at":2}"#));
}
