//! Numbers of JSON, as doubles that lose nothing that F1 wants kept.

use serde_json::Number;

use super::double;
use super::error::FingerprintErrorReason;

/// Every integer of so many characters is a double: 10^15 is below 2^53.
const EXACT_CHARACTERS: usize = 15;

/// The double that a JSON number text means, rounded correctly.
///
/// `serde_json` would round integers beyond u64 silently, and others by a bit more than need be (its `float_roundtrip` is
/// for the whole program to choose), so the text is read here. Only a number written as an integer, without fraction
/// and exponent, has to be exact: `1e23` is read as the nearest double by everybody, `100000000000000000000001` is not.
pub(super) fn of_text(text: &str) -> Result<f64, FingerprintErrorReason> {
    let number = double::of_text(text);
    if !number.is_finite() {
        return Err(FingerprintErrorReason::NotFinite);
    }
    if is_integer(text) && !is_exact(text, number) {
        return Err(FingerprintErrorReason::InexactInteger);
    }
    Ok(number)
}

/// The double in a number of `serde_json`, whatever features that was built with.
pub(super) fn of_number(number: &Number) -> Result<f64, FingerprintErrorReason> {
    match number.as_i64().and_then(|integer| i32::try_from(integer).ok()) {
        Some(small) => Ok(small.into()),
        None => of_text(&number.to_string()),
    }
}

fn is_integer(text: &str) -> bool {
    !text.contains(['.', 'e', 'E'])
}

fn is_exact(text: &str, number: f64) -> bool {
    // JSON has no leading zeros.
    text.len() <= EXACT_CHARACTERS || double::digits(number) == text
}
