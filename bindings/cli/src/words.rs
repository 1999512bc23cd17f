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

/// A word as a shell reads it: the same word again, whatever is in it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./:@%+=,".contains(letter);
    let is_seen = |letter: char| crate::output::shown(letter).chars().eq([letter]);
    if !word.is_empty() && word.chars().all(|letter| is_plain(letter) && is_seen(letter)) {
        return word.to_owned();
    }
    if word.chars().all(is_seen) {
        let inside = |letter: char| matches!(letter, '"' | '$' | '`' | '\\' | '!');
        return if word.contains(inside) {
            format!("'{}'", word.replace('\'', r"'\''"))
        } else {
            format!("\"{word}\"")
        };
    }
    // What bash and zsh read back.
    let escaped = |letter: char| match letter {
        '\'' | '\\' => format!("\\{letter}"),
        letter if is_seen(letter) => letter.into(),
        letter => format!("\\U{:08x}", u32::from(letter)),
    };
    format!("$'{}'", word.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_word_is_read_back_by_a_shell() {
        for word in ["mail", "POST /v1/charges", "", "it's", "a$b`c\\d\"e!", "ann\u{202e}nna", "a\nb'c\\", "Zoë", "a=b"]
        {
            let script = format!("printf %s {}", quoted(word));
            let Some(mut bash) = keyledger_needs::program("bash", "bash") else { return };
            let output = bash.env("LC_ALL", "C.UTF-8").args(["-c", &script]).output().expect("it runs");
            assert_eq!(String::from_utf8_lossy(&output.stdout), word, "{script}");
        }
    }

    #[test]
    fn distances_are_told_in_the_unit_that_fits() {
        let told: Vec<String> = [0, 119, 120, 7199, 7200, 172_800, -60].map(distance).to_vec();
        assert_eq!(told, ["0 s ago", "119 s ago", "2 min ago", "119 min ago", "2 h ago", "2 d ago", "in 60 s"]);
    }
}
