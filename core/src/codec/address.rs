//! Where a key id's record lies: a row key of 24 bytes instead of up to 768.
//!
//! Short keys make the file a quarter smaller and every commit cheaper (docs/decisions/0003). They are keyed hashes, under a
//! random salt of the file, so nobody can look for two key ids that meet; and each record holds its key id whole, which is
//! compared on every read, so that two that met would be refused and not confused (L2).

use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher24};

use crate::key::{KeyId, OperationName, Scope};

/// The salt of a ledger file: random, made with the file.
pub(crate) type Salt = [u8; 16];

const SCOPE_BYTES: usize = 8;

/// The key of a record's row: 8 bytes that tell the scope, 16 that tell the key id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RowKey([u8; 24]);

/// 8 bytes that tell an operation.
pub(crate) type OperationMark = [u8; 8];

/// A key id and where its record lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) id: KeyId,
    pub(crate) row: RowKey,
}

impl RowKey {
    pub(crate) fn from_bytes(bytes: [u8; 24]) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 24] {
        &self.0
    }

    /// A byte that is spread evenly over key ids.
    pub(crate) fn spread(&self) -> u8 {
        self.0[SCOPE_BYTES]
    }
}

impl Address {
    pub(crate) fn new(id: KeyId, salt: &Salt) -> Self {
        let mut row = [0; 24];
        row[..SCOPE_BYTES].copy_from_slice(&scope_mark(id.scope(), salt));
        let hash = keyed_hash(salt, &[id.scope().as_str(), id.operation().as_str(), id.key().as_str()]);
        row[SCOPE_BYTES..].copy_from_slice(&hash);
        Self { id, row: RowKey(row) }
    }
}

/// What the row keys of all records of a scope begin with. Another scope may share it: compare the key ids.
pub(crate) fn scope_mark(scope: &Scope, salt: &Salt) -> [u8; SCOPE_BYTES] {
    mark("scope", scope.as_str(), salt)
}

/// What tells an operation in the index of unsettled records.
pub(crate) fn operation_mark(operation: &OperationName, salt: &Salt) -> OperationMark {
    mark("operation", operation.as_str(), salt)
}

fn mark(what: &str, text: &str, salt: &Salt) -> [u8; 8] {
    let hash = keyed_hash(salt, &[what, text]);
    hash[..8].try_into().expect("the hash has sixteen bytes")
}

/// Sixteen bytes that tell these parts, of this file.
pub(super) fn keyed_hash(salt: &Salt, parts: &[&str]) -> [u8; 16] {
    let mut hasher = hasher(salt);
    for part in parts {
        write_framed(&mut hasher, part);
    }
    hasher.finish128().as_bytes()
}

fn hasher(salt: &Salt) -> SipHasher24 {
    SipHasher24::new_with_key(salt)
}

fn write_framed(hasher: &mut SipHasher24, text: &str) {
    hasher.write(&(text.len() as u64).to_le_bytes());
    hasher.write(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;

    fn address(scope: &str, operation: &str, key: &str, salt: u8) -> Address {
        let id = KeyId::new(Scope::new(scope).unwrap(), operation, Key::new(key).unwrap()).unwrap();
        Address::new(id, &[salt; 16])
    }

    #[test]
    fn l2_parts_that_read_alike_in_a_row_have_other_rows() {
        assert_ne!(address("ab", "c", "d", 0).row, address("a", "bc", "d", 0).row);
        assert_ne!(address("a", "b", "cd", 0).row, address("a", "bc", "d", 0).row);
    }

    #[test]
    fn rows_of_a_scope_share_its_mark_and_no_more() {
        let (one, two) = (address("a", "b", "c", 0), address("a", "b", "d", 0));
        assert_eq!(one.row.as_bytes()[..8], scope_mark(one.id.scope(), &[0; 16]));
        assert_eq!(one.row.as_bytes()[..8], two.row.as_bytes()[..8]);
        assert_ne!(one.row, two.row);
    }

    #[test]
    fn another_file_has_other_rows() {
        assert_ne!(address("a", "b", "c", 0).row, address("a", "b", "c", 1).row);
    }
}
