//! Which fields of a response are kept and told again (H5, I10).

use crate::message::{Fields, lines_of};

/// Hop-by-hop fields, those that frame the message, what belongs to one visitor or one moment, and what this layer adds itself.
const NOT_KEPT: [&str; 13] = [
    "Connection",
    "Content-Length",
    "Date",
    "Idempotency-Key-Expires",
    "Idempotent-Replayed",
    "Keep-Alive",
    "Keyledger-Body-Omitted",
    "Set-Cookie",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    "Set-Cookie2",
];

/// The lines that are kept: not those of the list above, not what Connection names, not what the user adds.
pub(crate) fn kept(fields: &Fields, also_dropped: &[String]) -> Fields {
    let named: Vec<String> = lines_of(fields, "Connection").flat_map(names).collect();
    let is_dropped = |name: &str| {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        NOT_KEPT.into_iter().any(is)
            || starts_with(name, "Proxy-")
            || named.iter().chain(also_dropped).any(|other| is(other))
    };
    fields.iter().filter(|(name, _)| !is_dropped(name)).cloned().collect()
}

fn names(list: &[u8]) -> Vec<String> {
    let names = list.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

pub(crate) fn starts_with(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

#[cfg(test)]
mod tests {
    use super::kept;

    #[test]
    fn h5_i10_hop_by_hop_framing_cookies_and_dates_are_not_kept() {
        let line = |name: &str| (name.to_owned(), b"x".to_vec());
        let mut fields: Vec<_> = super::NOT_KEPT.iter().map(|name| line(&name.to_lowercase())).collect();
        fields.extend([line("Content-Type"), line("X-Mine"), line("proxy-anything"), line("X-Hop"), line("Location")]);
        fields.push(("connection".to_owned(), b"close, x-hop".to_vec()));
        assert_eq!(kept(&fields, &["x-mine".to_owned()]), [line("Content-Type"), line("Location")]);
    }
}
