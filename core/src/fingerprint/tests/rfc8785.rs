//! The vectors of RFC 8785 itself, and another implementation of it as an oracle.

use proptest::prelude::*;
use serde_json::Value;

use super::super::*;
use super::canonical;

/// Appendix B: the bits of a double, and its text.
const NUMBERS: &[(u64, &str)] = &[
    (0x0000_0000_0000_0000, "0"),
    (0x8000_0000_0000_0000, "0"),
    (0x0000_0000_0000_0001, "5e-324"),
    (0x8000_0000_0000_0001, "-5e-324"),
    (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
    (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
    (0x4340_0000_0000_0000, "9007199254740992"),
    (0xc340_0000_0000_0000, "-9007199254740992"),
    (0x4430_0000_0000_0000, "295147905179352830000"),
    (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
    (0x44b5_2d02_c7e1_4af6, "1e+23"),
    (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
    (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
    (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
    (0x444b_1ae4_d6e2_ef50, "1e+21"),
    (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
    (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
    (0x41b3_de43_5555_5553, "333333333.3333332"),
    (0x41b3_de43_5555_5554, "333333333.33333325"),
    (0x41b3_de43_5555_5555, "333333333.3333333"),
    (0x41b3_de43_5555_5556, "333333333.3333334"),
    (0x41b3_de43_5555_5557, "333333333.33333343"),
    (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
    (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
];

#[test]
fn numbers_are_written_as_in_appendix_b() {
    for &(bits, text) in NUMBERS {
        let mut out = Vec::new();
        Json::Number(f64::from_bits(bits)).write(&mut out);
        assert_eq!(String::from_utf8(out).as_deref(), Ok(text), "{bits:016x}");
        // Read back from the exact digits, since the shortest ones of a large integer are another integer.
        let exact = format!("{:e}", f64::from_bits(bits));
        assert_eq!(canonical(&exact), text, "{exact}");
    }
}

#[test]
fn literals_numbers_and_strings_are_written_as_in_section_3_2_2() {
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let expected = concat!(
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
        r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
    );
    assert_eq!(canonical(text), expected);
}

#[test]
fn members_are_sorted_by_utf16_code_units_as_in_section_3_2_3() {
    let text = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
        "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let expected = [
        r#""\r":"Carriage Return""#,
        r#""1":"One""#,
        "\"\u{80}\":\"Control\"",
        r#""ö":"Latin Small Letter O With Diaeresis""#,
        r#""€":"Euro Sign""#,
        r#""😀":"Emoji: Grinning Face""#,
        "\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"",
    ];
    assert_eq!(canonical(text), format!("{{{}}}", expected.join(",")));
}

#[test]
fn control_characters_have_short_escapes_where_there_are_some_and_lower_case_digits_elsewhere() {
    let every: String = (0..0x20).chain([0x22, 0x5c, 0x7f]).map(char::from).collect();
    let text = serde_json::to_string(&every).unwrap();
    let expected: String = (0..0x20)
        .map(|code: u8| match code {
            8 => r"\b".into(),
            9 => r"\t".into(),
            10 => r"\n".into(),
            12 => r"\f".into(),
            13 => r"\r".into(),
            code => format!("\\u{code:04x}"),
        })
        .collect();
    assert_eq!(canonical(&text), format!("\"{expected}\\\"\\\\\u{7f}\""));
}

/// Values with names on both sides of the surrogates, all kinds of doubles, and every kind of character.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let name = prop_oneof!["[ab]{0,2}", "[a\u{e000}\u{fb33}\u{ffff}\u{10000}\u{1f600}]{0,3}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(name, inner, 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn another_implementation_writes_the_same_bytes(value in any_value()) {
        let expected = serde_json_canonicalizer::to_string(&value).unwrap();
        let of_value = Members::All.canonical(Json::of_value(&value).unwrap());
        prop_assert_eq!(String::from_utf8(of_value).unwrap(), expected.as_str());
        prop_assert_eq!(canonical(&value.to_string()), expected.as_str());
    }
}
