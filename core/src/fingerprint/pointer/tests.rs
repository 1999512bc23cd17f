use super::super::{Fingerprint, parser};
use super::*;

const ORDER: &str =
    r#"{"id":"o1","at":1700000000,"items":[{"sku":"a","n":1},{"sku":"b","n":2}],"a/b":1,"m~n":2,"":3,"nil":null}"#;

fn canonical(members: &Members, text: &str) -> String {
    String::from_utf8(members.canonical(parser::parse(text.as_bytes()).unwrap())).unwrap()
}

fn only(pointers: &[&str]) -> String {
    canonical(&Members::only(pointers.iter().copied()).unwrap(), ORDER)
}

fn left_out(pointers: &[&str], text: &str) -> String {
    canonical(&Members::leave_out(pointers.iter().copied()).unwrap(), text)
}

// F4.
#[test]
fn text_that_is_no_pointer_is_refused_when_it_is_read() {
    assert_eq!(Pointer::new("a"), Err(PointerError::NoSlash));
    assert_eq!(Pointer::new("#/a"), Err(PointerError::NoSlash));
    assert_eq!(Pointer::new("/a~"), Err(PointerError::Tilde { at: 2 }));
    assert_eq!(Pointer::new("/é/~2"), Err(PointerError::Tilde { at: 4 }));
    assert_eq!("/~~0".parse::<Pointer>(), Err(PointerError::Tilde { at: 1 }));
    assert_eq!(Members::only(["/a", "b"]), Err(PointerError::NoSlash));
    assert_eq!(Members::leave_out(["/a", "/~"]), Err(PointerError::Tilde { at: 1 }));
}

// F4, RFC 6901 sections 4 and 5.
#[test]
fn pointers_find_members_items_and_escaped_names() {
    assert_eq!(only(&["/items/1/sku"]), r#"[["/items/1/sku","b"]]"#);
    assert_eq!(only(&["/a~1b", "/m~0n", "/"]), r#"[["/",3],["/a~1b",1],["/m~0n",2]]"#);
    assert_eq!(canonical(&Members::only(["/~01"]).unwrap(), r#"{"~1":1,"/":2}"#), r#"[["/~01",1]]"#);
    assert_eq!(canonical(&Members::only([""]).unwrap(), "[1, 2]"), r#"[["",[1,2]]]"#);
    assert_eq!(canonical(&Members::only(["/ﬁ", "/😀"]).unwrap(), r#"{"ﬁ":1,"😀":2}"#), r#"[["/ﬁ",1],["/😀",2]]"#);
}

// F4.
#[test]
fn a_pointer_that_matches_nothing_is_no_error() {
    for nowhere in ["/none", "/id/x", "/items/2", "/items/-", "/items/01", "/items/+1", "/items/", "/nil/x", "/at/0"] {
        assert_eq!(only(&[nowhere, "/id"]), r#"[["/id","o1"]]"#, "{nowhere}");
        assert_eq!(left_out(&[nowhere], ORDER), canonical(&Members::All, ORDER), "{nowhere}");
    }
    assert_eq!(only(&["/none"]), "[]");
    assert_eq!(only(&[]), "[]");
}

// F4.
#[test]
fn what_is_left_out_does_not_count() {
    let of = |text: &str| {
        Fingerprint::of_json_text_with(text, &Members::leave_out(["/at", "/meta/trace"]).unwrap()).unwrap()
    };
    assert_eq!(of(r#"{"id":1,"at":1,"meta":{"trace":"x"}}"#), of(r#"{"meta":{"trace":[2]},"id":1,"at":{}}"#));
    assert_eq!(of(r#"{"id":1,"at":1}"#), Fingerprint::of_json_text(r#"{"id":1}"#).unwrap());
    assert_ne!(of(r#"{"id":1,"at":1}"#), of(r#"{"id":2,"at":1}"#));
    assert_ne!(of(r#"{"meta":{"trace":1}}"#), of("{}"));
}

// F4: pointers point into the value as it came.
#[test]
fn leaving_out_an_item_moves_no_other() {
    assert_eq!(left_out(&["/0", "/1"], "[1,2,3]"), "[3]");
    assert_eq!(left_out(&["/1", "/0", "/1"], "[1,2,3]"), "[3]");
    assert_eq!(left_out(&["/a", "/a/b"], r#"{"a":{"b":1},"c":2}"#), r#"{"c":2}"#);
    assert_eq!(left_out(&["/a/b", "/a"], r#"{"a":{"b":1},"c":2}"#), r#"{"c":2}"#);
    assert_eq!(left_out(&["/a/b"], r#"{"a":{"b":1}}"#), r#"{"a":{}}"#);
    assert_eq!(left_out(&[""], "[1]"), "[1]");
}

// F4.
#[test]
fn the_order_and_number_of_pointers_do_not_count() {
    assert_eq!(only(&["/id", "/at", "/id"]), only(&["/at", "/id"]));
    assert_eq!(only(&["/at", "/id"]), r#"[["/at",1700000000],["/id","o1"]]"#);
    // By bytes, not by UTF-16 code units.
    assert_eq!(canonical(&Members::only(["/\u{10000}", "/\u{e000}"]).unwrap(), "{}"), "[]");
    let both = "{\"\u{10000}\":1,\"\u{e000}\":2}";
    let pairs = canonical(&Members::only(["/\u{10000}", "/\u{e000}"]).unwrap(), both);
    assert_eq!(pairs, "[[\"/\u{e000}\",2],[\"/\u{10000}\",1]]");
}

// F4, F1.
#[test]
fn a_value_that_moved_to_another_pointer_counts_and_bad_json_is_refused_where_nobody_looks() {
    let of = |text: &str| Fingerprint::of_json_text_with(text, &Members::only(["/a", "/b"]).unwrap());
    assert_ne!(of(r#"{"a":1}"#), of(r#"{"b":1}"#));
    assert_ne!(of(r#"{"a":null}"#), of("{}"));
    assert!(of(r#"{"a":1,"c":9007199254740993}"#).is_err());
}

#[test]
fn values_and_texts_agree_about_members() {
    let value: serde_json::Value = serde_json::from_str(ORDER).unwrap();
    for members in [Members::All, Members::only(["/items"]).unwrap(), Members::leave_out(["/items/0/n"]).unwrap()] {
        assert_eq!(Fingerprint::of_json_with(&value, &members), Fingerprint::of_json_text_with(ORDER, &members));
    }
}
