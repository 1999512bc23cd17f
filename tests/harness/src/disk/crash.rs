//! What a loss of power leaves: everything synced, and of the rest whatever the disk happened to have written.

use super::{Change, Dice};

/// How much of what was not synced is there after a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// Nothing.
    LosesAll,
    /// All of it.
    KeepsAll,
    /// Some sectors and some changes of length, in an order that the disk chose. The seed repeats the choice.
    KeepsSome(u64),
}

pub(super) fn image(synced: &[u8], unsure: &[Change], crash: Crash) -> Vec<u8> {
    let mut image = synced.to_vec();
    match crash {
        Crash::LosesAll => {}
        Crash::KeepsAll => unsure.iter().for_each(|change| change.apply(&mut image)),
        Crash::KeepsSome(seed) => keep_some(&mut image, unsure, &mut Dice::new(seed)),
    }
    image
}

// A file system keeps the order of changes of length, not that of data in blocks that it has.
fn keep_some(image: &mut Vec<u8>, unsure: &[Change], dice: &mut Dice) {
    let lens = lengths(image.len(), unsure);
    let kept_lens = dice.below(lens.len() + 1);
    lens[..kept_lens].iter().for_each(|len| image.resize(*len, 0));
    let mut sectors: Vec<Change> = unsure.iter().flat_map(Change::sectors).collect();
    dice.shuffle(&mut sectors);
    let keep_of_100 = dice.below(101);
    for sector in sectors {
        if sector.end() <= image.len() && dice.below(100) < keep_of_100 {
            sector.apply(image);
        }
    }
}

fn lengths(mut len: usize, changes: &[Change]) -> Vec<usize> {
    let mut lens = Vec::new();
    for change in changes {
        let next = match change {
            Change::Write { .. } => len.max(change.end()),
            Change::SetLen(len) => *len,
        };
        if next != len {
            lens.push(next);
        }
        len = next;
    }
    lens
}
