use proptest::prelude::*;
use serde_json::Value;

use super::super::error::Place;
use super::*;

fn refusal(text: impl AsRef<[u8]>) -> (FingerprintErrorReason, usize) {
    match parse(text.as_ref()) {
        Err(FingerprintError { reason, at: Place::Byte(at) }) => (reason, at),
        Err(FingerprintError { at: Place::Pointer(_), .. }) => panic!("a text has bytes, not pointers"),
        Ok(_) => panic!("F1 refuses {:?}", String::from_utf8_lossy(text.as_ref())),
    }
}

fn syntax_error_at(text: &str) -> usize {
    let (reason, at) = refusal(text);
    assert!(matches!(reason, FingerprintErrorReason::Syntax { .. }), "{text:?}: {reason}");
    at
}

fn text_of(json: &str) -> String {
    match parse(json.as_bytes()) {
        Ok(Json::Text(text)) => text.into_owned(),
        Ok(_) | Err(_) => panic!("{json} is a string"),
    }
}

// F1.
#[test]
fn numbers_beyond_the_doubles_are_refused() {
    let huge = format!("1{}", "0".repeat(309));
    for text in ["1e400", "-1e400", "1.8e308", huge.as_str(), "NaN", "Infinity", "-Infinity"] {
        assert_eq!(refusal(format!("[ {text}]")), (FingerprintErrorReason::NotFinite, 2), "{text}");
    }
}

// F1.
#[test]
fn integers_between_two_doubles_are_refused_however_many_digits_they_have() {
    for text in [
        "9007199254740993",
        "-9007199254740993",
        "18446744073709551615",
        "18446744073709551617",
        "100000000000000000000001",
        "295147905179352830000",
    ] {
        assert_eq!(refusal(format!("[{text}]")), (FingerprintErrorReason::InexactInteger, 1), "{text}");
    }
}

// F1.
#[test]
fn integers_that_are_doubles_are_accepted_however_many_digits_they_have() {
    let largest = format!("{:.0}", f64::MAX);
    for text in ["9007199254740992", "9007199254740994", "18446744073709551616", "295147905179352825856", &largest] {
        assert!(parse(text.as_bytes()).is_ok(), "{text}");
    }
}

// F1: an integer is a number without fraction and exponent; others mean the nearest double.
#[test]
fn numbers_with_fraction_or_exponent_are_rounded_correctly() {
    for (text, nearest) in
        [("1e23", 1e23), ("0.1", 0.1), ("9007199254740993.0", 9_007_199_254_740_992.0), ("5e-324", 5e-324)]
    {
        match parse(text.as_bytes()) {
            Ok(Json::Number(number)) => assert_eq!(number.to_bits(), f64::to_bits(nearest), "{text}"),
            Ok(_) | Err(_) => panic!("{text} is a number"),
        }
    }
}

// F1.
#[test]
fn lone_surrogates_are_refused_wherever_they_stand() {
    for half in [r"\ud800", r"\udbff", r"\udc00", r"\uDFFF", r"\udc00\ud800", r"\ud800x", r"\ud800\n", r"\ud800\u0041"]
    {
        assert_eq!(refusal(format!("[\"€{half}\"]")), (FingerprintErrorReason::LoneSurrogate, 5), "{half}");
        assert_eq!(refusal(format!("{{\"{half}\":0}}")), (FingerprintErrorReason::LoneSurrogate, 2), "{half}");
    }
    assert_eq!(refusal(r#""\ud800\ud83d\ude00""#), (FingerprintErrorReason::LoneSurrogate, 1));
    // The bytes of a surrogate are no UTF-8.
    assert_eq!(refusal(b"\"\xed\xa0\x80\""), (FingerprintErrorReason::NotUtf8, 1));
}

// F1.
#[test]
fn duplicate_names_are_refused_also_where_only_their_escapes_differ() {
    for (text, at) in [
        (r#"{"a":1,"a":1}"#, 7),
        (r#"{"a":1,"b":2, "\u0061":3}"#, 14),
        (r#"[{"":{"":0,"x":1,"":2}}]"#, 17),
        (r#"{"é":1,"\u00e9":1}"#, 8),
    ] {
        assert_eq!(refusal(text), (FingerprintErrorReason::DuplicateMember, at), "{text}");
    }
    assert!(parse(r#"{"a":{"a":1},"é":1,"e\u0301":1}"#.as_bytes()).is_ok());
}

// F1.
#[test]
fn hostile_nesting_is_refused_before_the_stack_is_full() {
    let nest = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse(nest(JSON_DEPTH_MAX).as_bytes()).is_ok());
    assert_eq!(refusal(nest(JSON_DEPTH_MAX + 1)), (FingerprintErrorReason::TooDeep, JSON_DEPTH_MAX));
    assert_eq!(refusal("[".repeat(1 << 20)), (FingerprintErrorReason::TooDeep, JSON_DEPTH_MAX));
    assert_eq!(refusal("{\"\":".repeat(1 << 20)), (FingerprintErrorReason::TooDeep, 4 * JSON_DEPTH_MAX));
    let side_by_side = format!("[{}0]", "[{}],".repeat(1000));
    assert!(parse(side_by_side.as_bytes()).is_ok(), "depth counts, not number");
}

// F1.
#[test]
fn what_is_no_json_is_refused_at_the_byte_where_it_ends_to_be() {
    for (text, at) in [
        ("", 0),
        (" ", 1),
        ("nul", 0),
        ("True", 0),
        ("'a'", 0),
        ("\u{feff}1", 0),
        ("1 2", 2),
        ("01", 1),
        ("-", 1),
        ("+1", 0),
        (".5", 0),
        ("1.", 2),
        ("1.e5", 2),
        ("1e", 2),
        ("1e+", 3),
        ("[1,]", 3),
        ("[1 2]", 3),
        ("[,1]", 1),
        ("[1", 2),
        ("{\"a\" 1}", 5),
        ("{\"a\":1,}", 7),
        ("{a:1}", 1),
        ("{\"a\":1", 6),
        ("{1:1}", 1),
        ("\"a", 2),
        ("\"a\nb\"", 2),
        (r#""\x""#, 2),
        (r#""\"#, 2),
        (r#""\u12"#, 3),
        (r#""\u+123""#, 3),
        (r#""\ud83d\u12""#, 9),
        ("[1]]", 3),
        ("/**/1", 0),
        ("1\u{a0}", 1),
    ] {
        assert_eq!(syntax_error_at(text), at, "{text:?}");
    }
}

#[test]
fn escapes_mean_what_rfc_8259_says() {
    assert_eq!(text_of(r#""\"\\\/\b\f\n\r\t""#), "\"\\/\u{8}\u{c}\n\r\t");
    assert_eq!(text_of(r#""a\u0000\u00E9€\uffff\ud83d\ude00\uDBFF\uDFFF""#), "a\0é€\u{ffff}\u{1f600}\u{10ffff}");
    assert!(matches!(parse(b"\"plain\""), Ok(Json::Text(Cow::Borrowed("plain")))));
}

/// Texts that are nearly JSON: its own tokens in any order.
fn tokens() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"b\"", "\\", "\\u", "d83d", "\\ude00", "0", "1", "-", ".", "e",
        "5", " ", "\n", "\t", "null", "true", "false", "é", "\u{1}",
    ]);
    prop::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

/// JSON with one character replaced, put in or taken away.
fn damaged() -> impl Strategy<Value = String> {
    let json = prop::sample::select(vec![
        r#"{"a":[1,-2.5e+3,0.1,{"b":"\u00e9\n"}],"c":null,"d":{"e":true,"f":false}}"#,
        r#"["\ud83d\ude00", "é", -0, 12E5, [], {}, [[]], "" ]"#,
    ]);
    let with = prop::sample::select("{}[],:\"\\u0d8159eE+-. tnf\n\u{1}é".chars().collect::<Vec<_>>());
    (json, any::<prop::sample::Index>(), with, 0..2_usize, 0..2_usize).prop_map(|(json, at, with, put, taken)| {
        let mut characters: Vec<char> = json.chars().collect();
        let at = at.index(characters.len());
        characters.splice(at..at + taken, std::iter::repeat_n(with, put));
        characters.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// Whatever is refused here and accepted there is refused for a rule of F1.
    #[test]
    fn serde_json_accepts_the_same_texts(text in prop_oneof![tokens(), damaged()]) {
        let theirs = serde_json::from_str::<Value>(&text).is_ok();
        match parse(text.as_bytes()) {
            Ok(_) => prop_assert!(theirs, "{:?}", text),
            Err(error) => prop_assert!(!theirs || error.reason == FingerprintErrorReason::DuplicateMember, "{:?}: {}", text, error),
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn an_integer_is_accepted_if_a_double_holds_it(integer in prop_oneof![any::<i64>(), -(1_i64 << 55)..1 << 55]) {
        // Through i128, so that 2^63 is not saturated to a number that seems to come back.
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the loss is what is looked at")]
        let held = integer as f64 as i128 == i128::from(integer);
        prop_assert_eq!(parse(integer.to_string().as_bytes()).is_ok(), held);
    }
}
