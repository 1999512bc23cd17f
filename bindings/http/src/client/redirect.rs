//! Redirects: followed only where method and origin stay (C2).

use iri_string::types::{UriAbsoluteStr, UriReferenceStr, UriStr};

/// What to do about a 3xx.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redirect {
    /// Send the same request with the same key there.
    Follow(String),
    /// Do not: it is the answer, by its status.
    Stay,
}

/// Whether a request to `url` that was answered with `status` and this Location goes on there: if neither its method nor its origin
/// (scheme, host, port) changes (C2). 307 and 308 keep the method; so do 301 and 302 unless it is POST; 303 does not.
pub fn redirect(method: &str, url: &str, status: u16, location: Option<&[u8]>) -> Redirect {
    let keeps_method = match status {
        307 | 308 => true,
        301 | 302 => method != "POST",
        _ => false,
    };
    let target = location.filter(|_| keeps_method).and_then(|location| resolve(url, location));
    match target {
        Some(target) if origin(&target).is_some() && origin(&target) == origin(url) => Redirect::Follow(target),
        Some(_) | None => Redirect::Stay,
    }
}

fn resolve(url: &str, location: &[u8]) -> Option<String> {
    let base = UriAbsoluteStr::new(url.split('#').next()?).ok()?;
    let reference = UriReferenceStr::new(std::str::from_utf8(location).ok()?.trim()).ok()?;
    let target = reference.resolve_against(base).to_string();
    target.split('#').next().map(str::to_owned)
}

/// Scheme, host and port of an absolute http or https URL without user information; none for anything else.
pub(super) fn origin(url: &str) -> Option<(String, String, u16)> {
    let url = UriStr::new(url).ok()?;
    let scheme = url.scheme_str().to_ascii_lowercase();
    let own_port = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let authority = url.authority_components().filter(|authority| authority.userinfo().is_none())?;
    let port = match authority.port() {
        None | Some("") => own_port,
        Some(port) => port.parse().ok()?,
    };
    let host = authority.host().to_ascii_lowercase();
    (!host.is_empty()).then_some((scheme, host, port))
}

#[cfg(test)]
mod tests {
    use super::{Redirect, redirect};

    fn to(method: &str, status: u16, location: &str) -> Option<String> {
        match redirect(method, "https://Pay.example/v1/x?a=1", status, Some(location.as_bytes())) {
            Redirect::Follow(url) => Some(url),
            Redirect::Stay => None,
        }
    }

    #[test]
    fn c2_no_redirect_is_followed_that_changes_the_method() {
        for status in [307, 308] {
            assert_eq!(to("POST", status, "/v2/x").as_deref(), Some("https://Pay.example/v2/x"));
        }
        for status in [300, 301, 302, 303, 304] {
            assert_eq!(to("POST", status, "/v2/x"), None, "{status}");
        }
        assert_eq!(to("PATCH", 301, "y#part").as_deref(), Some("https://Pay.example/v1/y"));
        assert_eq!(to("PATCH", 303, "y"), None);
    }

    #[test]
    fn c2_no_redirect_is_followed_that_changes_the_origin() {
        assert!(to("POST", 308, "https://pay.example:443/y").is_some());
        for other in [
            "http://pay.example/y",
            "https://pay.example:444/y",
            "https://evil.example/y",
            "//evil.example/y",
            "https://a@pay.example/y",
            "https:///y",
            "",
            "\u{e9}",
        ] {
            let followed = to("POST", 308, other);
            assert!(other.is_empty() || followed.is_none(), "{other}: {followed:?}");
        }
        assert_eq!(redirect("POST", "https://a.example/", 308, None), Redirect::Stay);
    }
}
