//! What can be written as a value.

use std::time::Duration;

/// The units of a span, in milliseconds.
const UNITS: [(&str, u64); 7] =
    [("ms", 1), ("s", 1000), ("m", 60_000), ("min", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000)];

/// A length of time as people write it: a number alone is seconds, days have 24 hours.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let advice = || "write 90s, 15m, 2h30m, 3d or 1w".to_owned();
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let (mut rest, mut total) = (text, Duration::ZERO);
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(advice)?;
        let (number, behind) = rest.split_at(digits);
        let end = behind.find(|letter: char| letter.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, after) = behind.split_at(end);
        let (_, ms) = UNITS.into_iter().find(|(name, _)| *name == unit).ok_or_else(advice)?;
        let number: u64 = number.parse().map_err(|_| advice())?;
        let part = number.checked_mul(ms).ok_or_else(|| "it is too long".to_owned())?;
        total = total.saturating_add(Duration::from_millis(part));
        rest = after;
    }
    if text.is_empty() { Err(advice()) } else { Ok(total) }
}

/// A span between two looks: without one the machine would do nothing else.
pub(super) fn pause(text: &str) -> Result<Duration, String> {
    const LEAST: Duration = Duration::from_millis(10);
    span(text).and_then(|pause| if pause < LEAST { Err("at least 10ms".to_owned()) } else { Ok(pause) })
}

/// Where a page ended, as `list` prints it.
pub(super) fn mark(text: &str) -> Result<String, String> {
    match keyledger::admin::unhex(text) {
        Some(bytes) if !bytes.is_empty() => Ok(text.to_owned()),
        _ => Err("it is not where a page ended; `list` prints that as `more: --after MARK`".to_owned()),
    }
}

/// A text that says something: it stays in the audit trail.
pub(super) fn said(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("it must say something".to_owned()) } else { Ok(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_people_write_them() {
        assert_eq!(span("90"), Ok(Duration::from_secs(90)));
        assert_eq!(span("2h30m"), Ok(Duration::from_mins(150)));
        assert_eq!(span("3d"), Ok(Duration::from_hours(72)));
        assert_eq!(span("50ms"), Ok(Duration::from_millis(50)));
        for bad in ["", "-5s", "soon", "3ü", "h", "1h5", "99999999999999999d"] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn between_two_looks_there_is_a_pause() {
        assert_eq!(pause("10ms"), Ok(Duration::from_millis(10)));
        assert!(pause("0").is_err() && pause("9ms").is_err() && pause("soon").is_err());
    }

    #[test]
    fn a_mark_is_what_list_prints() {
        assert!(mark("00ff").is_ok() && mark("zz").is_err() && mark("").is_err() && mark("0").is_err());
    }

    #[test]
    fn nobody_says_nothing() {
        assert!(said("ann").is_ok() && said("").is_err() && said(" \t").is_err());
    }
}
