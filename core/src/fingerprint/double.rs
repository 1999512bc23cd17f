//! Doubles and their texts: read, written as RFC 8785 wants, and written digit by digit.

#[cfg(not(all(target_arch = "wasm32", feature = "host-numbers")))]
pub(super) use own::{digits, of_text, shortest};

#[cfg(all(target_arch = "wasm32", feature = "host-numbers"))]
pub(super) use host::{digits, of_text, shortest};

#[cfg(all(target_arch = "wasm32", feature = "host-numbers"))]
pub use host::{HostNumbers, numbers_by_host};

#[cfg(not(all(target_arch = "wasm32", feature = "host-numbers")))]
mod own {
    /// The nearest double; infinite where the number is too large.
    pub(in super::super) fn of_text(text: &str) -> f64 {
        text.parse().expect("a number of JSON is one of Rust")
    }

    /// ECMAScript's text for a finite double (RFC 8785, 3.2.2.3).
    pub(in super::super) fn shortest(number: f64) -> String {
        ryu_js::Buffer::new().format_finite(number).to_owned()
    }

    /// All digits of the integer that the double is.
    pub(in super::super) fn digits(number: f64) -> String {
        format!("{number:.0}")
    }
}

/// JavaScript reads and writes doubles as section 8 wants it: a module for it needs no tables of its own, which are 30 KB.
#[cfg(all(target_arch = "wasm32", feature = "host-numbers"))]
mod host {
    use std::sync::OnceLock;

    static HOST: OnceLock<HostNumbers> = OnceLock::new();

    /// What the host does with doubles.
    #[derive(Clone, Copy, Debug)]
    pub struct HostNumbers {
        /// The double nearest to a number of JSON; infinite where that is too large.
        pub of_text: fn(&str) -> f64,
        /// ECMAScript's text for a finite double.
        pub shortest: fn(f64) -> String,
        /// All digits of a double that is an integer.
        pub digits: fn(f64) -> String,
    }

    /// Takes what the host does with doubles: once, before the first fingerprint of JSON.
    pub fn numbers_by_host(numbers: HostNumbers) {
        let _ = HOST.set(numbers);
    }

    fn host() -> HostNumbers {
        *HOST.get().expect("a host with numbers of its own says so before the first fingerprint")
    }

    pub(in super::super) fn of_text(text: &str) -> f64 {
        (host().of_text)(text)
    }

    pub(in super::super) fn shortest(number: f64) -> String {
        (host().shortest)(number)
    }

    pub(in super::super) fn digits(number: f64) -> String {
        (host().digits)(number)
    }
}
