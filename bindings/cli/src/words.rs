//! Instants, spans and sizes in words.

use jiff::Timestamp;

/// An instant in UTC, and how far it is from now: `2026-11-30 01:33:02Z (5 min ago)`.
pub(crate) fn instant(ms: u64) -> String {
    let Some(at) = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()) else {
        return "never".to_owned();
    };
    let seconds = (Timestamp::now().as_millisecond() - at.as_millisecond()) / 1000;
    format!("{} ({})", at.strftime("%Y-%m-%d %H:%M:%SZ"), distance(seconds))
}

/// How far an instant is from now.
pub(crate) fn ago(ms: u64) -> String {
    distance((Timestamp::now().as_millisecond() - i64::try_from(ms).unwrap_or(i64::MAX)) / 1000)
}

fn distance(seconds: i64) -> String {
    let span = match seconds.unsigned_abs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds @ 7200..=172_799 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    };
    if seconds < 0 { format!("in {span}") } else { format!("{span} ago") }
}

/// A number of bytes.
pub(crate) fn bytes(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

/// A number of things.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_told_in_the_unit_that_fits() {
        let told: Vec<String> = [0, 119, 120, 7199, 7200, 172_800, -60].map(distance).to_vec();
        assert_eq!(told, ["0 s ago", "119 s ago", "2 min ago", "119 min ago", "2 h ago", "2 d ago", "in 60 s"]);
    }
}
