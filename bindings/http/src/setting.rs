//! Settings of a route that are refused when it is built: with them it would not do what it says.

use crate::message::is_token;
use crate::problem::Case;

/// The methods of RFC 9110, section 9.3, and of RFC 5789.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

/// Why a route refuses a setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// None of HTTP's own methods: a slip of the pen would leave the route open (H2).
    #[error("{0:?} is none of HTTP's own methods; write it as POST, or add one of yours with other_method")]
    Method(String),
    /// No token, so that no request has it.
    #[error("{0:?} can be no request's method; use letters and digits")]
    OtherMethod(String),
    /// An empty list of methods.
    #[error("no method is named, so that no request would be protected; name at least one")]
    NoMethod,
    /// A status that tells no error.
    #[error("{0} is no status of an error; take one from 400 to 599")]
    Status(u16),
    /// A case that is told with a status of its own.
    #[error("the case {} is told with the status that was stored; leave it out", .0.as_str())]
    StatusOfReplay(Case),
    /// No name of a field, so that no response has it.
    #[error("{0:?} is no name of a field; use letters, digits and hyphens")]
    Field(String),
}

/// One of HTTP's own methods, in whatever case it is written, as requests bring it.
pub(crate) fn method(name: &str) -> Result<String, RouteError> {
    standard(name).ok_or_else(|| RouteError::Method(name.to_owned()))
}

/// Any method at all.
pub(crate) fn other_method(name: &str) -> Result<String, RouteError> {
    let other = || is_token(name.as_bytes()).then(|| name.to_owned());
    standard(name).or_else(other).ok_or_else(|| RouteError::OtherMethod(name.to_owned()))
}

fn standard(name: &str) -> Option<String> {
    METHODS.into_iter().find(|method| method.eq_ignore_ascii_case(name)).map(str::to_owned)
}

/// A case, and the status that the middleware is to answer it with.
pub(crate) fn status(case: Case, status: u16) -> Result<(Case, u16), RouteError> {
    match (case, status) {
        (Case::BodyOmitted, _) => Err(RouteError::StatusOfReplay(case)),
        (_, 400..=599) => Ok((case, status)),
        (_, _) => Err(RouteError::Status(status)),
    }
}

/// The name of a field.
pub(crate) fn field(name: String) -> Result<String, RouteError> {
    if is_token(name.as_bytes()) { Ok(name) } else { Err(RouteError::Field(name)) }
}

#[cfg(test)]
mod tests {
    use keyledger::Effect;

    use super::RouteError;
    use crate::{Case, Passage, Route};

    fn route() -> Route {
        Route::required(Effect::Repeatable)
    }

    /// Whether a request of this method needs a key.
    fn is_protected(route: &Route, method: &str) -> bool {
        matches!(route.receive(method, []), Passage::Refused(_))
    }

    #[test]
    fn h2_no_way_to_write_a_method_leaves_a_route_open() {
        for written in ["post", "Post", "POST"] {
            assert!(is_protected(&route().methods([written]).unwrap(), "POST"), "{written}");
            assert!(is_protected(&route().methods(["PUT"]).unwrap().other_method(written).unwrap(), "POST"));
        }
        for slip in ["POTS", "POST ", "", "POST,PATCH"] {
            assert_eq!(route().methods(["PUT", slip]).unwrap_err(), RouteError::Method(slip.to_owned()));
        }
        assert_eq!(route().methods([""; 0]).unwrap_err(), RouteError::NoMethod);
    }

    #[test]
    fn h2_a_method_of_ones_own_is_added_as_it_is_written() {
        let purging = route().other_method("Purge").unwrap();
        assert!(is_protected(&purging, "Purge") && is_protected(&purging, "POST"));
        assert!(!is_protected(&purging, "PURGE") && !is_protected(&purging, "GET"));
        assert_eq!(route().other_method("PUR GE").unwrap_err(), RouteError::OtherMethod("PUR GE".to_owned()));
    }

    #[cfg(feature = "tower")]
    #[test]
    fn h2_methods_are_taken_as_the_http_crate_has_them() {
        let route = route().methods([http::Method::PUT, http::Method::POST]).unwrap();
        assert!(is_protected(&route, "PUT") && is_protected(&route, "POST") && !is_protected(&route, "PATCH"));
    }

    #[test]
    fn h4_a_case_has_the_status_of_an_error() {
        for status in [400, 429, 599] {
            let Passage::Refused(answer) = route().status(Case::Missing, status).unwrap().receive("POST", []) else {
                panic!("there is no key")
            };
            assert_eq!(answer.status, status);
        }
        for status in [0, 42, 99, 100, 200, 204, 302, 399, 600, 999, u16::MAX] {
            assert_eq!(route().status(Case::Missing, status).unwrap_err(), RouteError::Status(status));
        }
        let replay = Case::BodyOmitted;
        assert_eq!(route().status(replay, 507).unwrap_err(), RouteError::StatusOfReplay(replay));
    }

    #[test]
    fn h5_a_field_that_no_response_can_have_is_not_left_out_in_vain() {
        for name in ["X-Secret:", "x secret", ""] {
            assert_eq!(route().not_kept(name).unwrap_err(), RouteError::Field(name.to_owned()));
        }
        assert!(route().not_kept("X-Secret").is_ok());
    }
}
