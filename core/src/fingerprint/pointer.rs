//! JSON pointers (RFC 6901), and the members of a value that they choose (F4).

use std::str::FromStr;

use super::json::{Json, canonical_order, write_text};

/// A JSON pointer: `/order/items/0`, with `~1` for a slash and `~0` for a tilde in a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer {
    /// First, so that pointers sort by it.
    text: String,
    steps: Vec<String>,
}

/// Text that is no JSON pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    /// It is not empty, and does not start with a slash.
    #[error("a json pointer starts with a slash: write /name")]
    NoSlash,
    /// A tilde without `0` or `1` behind it.
    #[error("a tilde at byte {at} of a json pointer: write ~0 for a tilde and ~1 for a slash in a name")]
    Tilde {
        /// Where it is, counted in bytes from 0.
        at: usize,
    },
}

impl Pointer {
    /// Reads a pointer. The empty one points to the whole value.
    ///
    /// # Errors
    ///
    /// When RFC 6901 has no such pointer.
    pub fn new(text: impl Into<String>) -> Result<Self, PointerError> {
        let text = text.into();
        let is_stray = |&(at, _): &(usize, &str)| !matches!(text.as_bytes().get(at + 1), Some(b'0' | b'1'));
        if let Some((at, _)) = text.match_indices('~').find(is_stray) {
            return Err(PointerError::Tilde { at });
        }
        let mut steps = text.split('/');
        if steps.next() != Some("") {
            return Err(PointerError::NoSlash);
        }
        let steps = steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
        Ok(Self { text, steps })
    }

    /// The text as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn find<'j, 'a>(&self, json: &'j Json<'a>) -> Option<&'j Json<'a>> {
        self.steps.iter().try_fold(json, |json, step| match json {
            Json::Array(items) => items.get(index(step)?),
            Json::Object(members) => Some(&members[position(members, step)?].1),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::LeftOut => None,
        })
    }

    fn find_mut<'j, 'a>(&self, json: &'j mut Json<'a>) -> Option<&'j mut Json<'a>> {
        self.steps.iter().try_fold(json, |json, step| match json {
            Json::Array(items) => items.get_mut(index(step)?),
            Json::Object(members) => position(members, step).map(|position| &mut members[position].1),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::LeftOut => None,
        })
    }
}

impl FromStr for Pointer {
    type Err = PointerError;

    fn from_str(text: &str) -> Result<Self, PointerError> {
        Self::new(text)
    }
}

fn index(step: &str) -> Option<usize> {
    let is_index = step.bytes().all(|byte| byte.is_ascii_digit()) && (step == "0" || !step.starts_with('0'));
    if is_index { step.parse().ok() } else { None }
}

fn position<S: AsRef<str>>(members: &[(S, Json<'_>)], name: &str) -> Option<usize> {
    members.binary_search_by(|(member, _)| canonical_order(member.as_ref(), name)).ok()
}

/// Which members of a JSON value count for its fingerprint (F4). A pointer that matches nothing is no error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Members {
    /// All of them.
    #[default]
    All,
    /// All but those at these pointers: a timestamp, a request id. Each points into the value as it came, so leaving out
    /// an item of an array moves no other. The empty pointer leaves nothing out: the value itself is no member.
    LeaveOut(Vec<Pointer>),
    /// Those at these pointers alone: the array of `[pointer, value]` of those that match, in the order of the pointers'
    /// bytes, counts instead of the value.
    Only(Vec<Pointer>),
}

impl Members {
    /// [`Members::LeaveOut`] of pointers in text.
    ///
    /// # Errors
    ///
    /// When one of them is no pointer.
    pub fn leave_out<'p>(pointers: impl IntoIterator<Item = &'p str>) -> Result<Self, PointerError> {
        pointers.into_iter().map(Pointer::new).collect::<Result<_, _>>().map(Self::LeaveOut)
    }

    /// [`Members::Only`] of pointers in text.
    ///
    /// # Errors
    ///
    /// When one of them is no pointer.
    pub fn only<'p>(pointers: impl IntoIterator<Item = &'p str>) -> Result<Self, PointerError> {
        pointers.into_iter().map(Pointer::new).collect::<Result<_, _>>().map(Self::Only)
    }

    /// The RFC 8785 form of what counts of `json`.
    pub(super) fn canonical(&self, mut json: Json<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::All => json.write(&mut out),
            Self::LeaveOut(pointers) => {
                remove(pointers, &mut json);
                json.write(&mut out);
            }
            Self::Only(pointers) => write_pairs(pointers, &json, &mut out),
        }
        out
    }
}

fn remove(pointers: &[Pointer], json: &mut Json<'_>) {
    for pointer in pointers.iter().filter(|pointer| !pointer.steps.is_empty()) {
        if let Some(found) = pointer.find_mut(json) {
            *found = Json::LeftOut;
        }
    }
}

/// An array of `[pointer, value]`, in the order of the pointers' bytes, each once.
fn write_pairs(pointers: &[Pointer], json: &Json<'_>, out: &mut Vec<u8>) {
    let mut pointers: Vec<&Pointer> = pointers.iter().collect();
    pointers.sort();
    pointers.dedup();
    let found = pointers.into_iter().filter_map(|pointer| Some((pointer, pointer.find(json)?)));
    out.push(b'[');
    for (count, (pointer, value)) in found.enumerate() {
        out.extend_from_slice(if count > 0 { b",[" } else { b"[" });
        write_text(pointer.as_str(), out);
        out.push(b',');
        value.write(out);
        out.push(b']');
    }
    out.push(b']');
}

#[cfg(test)]
mod tests;
