//! Dates of HTTP (RFC 9110, section 5.6.7), to and from milliseconds since 1970-01-01 UTC.

use std::time::{Duration, UNIX_EPOCH};

/// The last second that an HTTP date can say: the end of the year 9999.
const SECONDS_MAX: u64 = 253_402_300_799;

/// An HTTP date, rounded down to a second; the end of the year 9999 for anything later.
pub(crate) fn http_date(at_ms: u64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs((at_ms / 1000).min(SECONDS_MAX)))
}

/// What an HTTP date says, or none if it is not one.
pub(crate) fn instant_ms(date: &[u8]) -> Option<u64> {
    let date = httpdate::parse_http_date(std::str::from_utf8(date).ok()?.trim()).ok()?;
    u64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::{http_date, instant_ms};

    #[test]
    fn h12_instants_become_dates_and_come_back() {
        assert_eq!(http_date(784_111_777_999), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(instant_ms(b"Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777_000));
        assert_eq!(http_date(u64::MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
        assert_eq!(instant_ms(b"tomorrow"), None);
        assert_eq!(instant_ms(b"\xff"), None);
    }
}
