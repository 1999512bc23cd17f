//! Scans past damage, on views that are damaged in every way.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, ControlFlow, RangeInclusive};

use super::{Torn, What, scan_past};
use crate::store::merge::scan_with;
use crate::store::{KeyRange, Snapshot, Space, StoreError, Visit};

/// Two hundred rows, 10 apart: whole ones, torn ones, pages that lead nowhere.
#[derive(Default)]
struct Tree {
    torn: BTreeSet<u16>,
    lost: Vec<RangeInclusive<u16>>,
}

impl Tree {
    const LAST: u16 = 1990;

    /// What is met at a row, or on the way to it.
    fn row(&self, number: u16) -> Result<Vec<u8>, StoreError> {
        if self.lost.iter().any(|lost| lost.contains(&number)) {
            return Err(StoreError::Corrupt("a page is none".into()));
        }
        let (key, bytes) = (key(number), vec![1]);
        if self.torn.contains(&number) { Err(StoreError::Row { key, bytes }) } else { Ok(key) }
    }
}

impl Snapshot for Tree {
    fn get(&self, _: Space, wanted: &[u8], read: &mut dyn FnMut(&[u8])) -> Result<bool, StoreError> {
        self.row(number(wanted)).map(|_| read(&[1]))?;
        Ok(true)
    }

    fn scan(&self, _: Space, (from, to): KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        let is_before = |at: u16| match from {
            Bound::Included(from) => key(at).as_slice() < from,
            Bound::Excluded(from) => key(at).as_slice() <= from,
            Bound::Unbounded => false,
        };
        // A seek into a lost page fails, even behind its last row.
        if let Bound::Included(from) | Bound::Excluded(from) = from {
            self.row(number(from) / 10 * 10).map(drop).or_else(|error| match error {
                StoreError::Row { .. } => Ok(()),
                error => Err(error),
            })?;
        }
        for at in (0..=Tree::LAST).step_by(10).skip_while(|at| is_before(*at)) {
            let is_behind = match to {
                Bound::Included(to) => key(at).as_slice() > to,
                Bound::Excluded(to) => key(at).as_slice() >= to,
                Bound::Unbounded => false,
            };
            if is_behind || visit(&self.row(at)?, &[1]).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// A tree with changes over it.
struct Layered(Tree, BTreeMap<Vec<u8>, Option<Vec<u8>>>);

/// Nothing, with the changes over it.
struct Nothing;

impl Snapshot for Nothing {
    fn get(&self, _: Space, _: &[u8], _: &mut dyn FnMut(&[u8])) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn scan(&self, _: Space, _: KeyRange<'_>, _: Visit<'_>) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Layered {
    fn over(&self, below: &dyn Snapshot, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        let changes = self.1.range::<[u8], _>(range);
        let mut changes = changes.map(|(key, change)| (key.into(), change.as_ref().map(std::borrow::Cow::from)));
        scan_with(below, Space::Records, range, &mut changes, visit)
    }
}

impl Snapshot for Layered {
    fn get(&self, space: Space, key: &[u8], read: &mut dyn FnMut(&[u8])) -> Result<bool, StoreError> {
        self.1.get(key).map_or_else(|| self.0.get(space, key, read), |change| Ok(change.is_some()))
    }

    fn scan(&self, _: Space, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        self.over(&self.0, range, visit)
    }

    fn scan_above(&self, _: Space, range: KeyRange<'_>, visit: Visit<'_>) -> Result<(), StoreError> {
        self.over(&Nothing, range, visit)
    }
}

fn key(number: u16) -> Vec<u8> {
    [&number.to_be_bytes()[..], &[7; 22]].concat()
}

fn number(key: &[u8]) -> u16 {
    u16::from_be_bytes([key[0], key[1]])
}

/// The rows that are shown, and the rows and stretches that are torn, in order.
fn scanned(view: &dyn Snapshot, limit: usize) -> (Vec<u16>, Vec<String>) {
    let (mut shown, mut torn) = (Vec::new(), Vec::new());
    let mut visit = |key: &[u8], _: &[u8]| {
        shown.push(number(key));
        if shown.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    scan_past(view, Space::Records, (Bound::Unbounded, Bound::Unbounded), &mut visit, &mut |met: Torn| {
        let told = |key: &Option<Vec<u8>>| key.as_deref().map_or("-".into(), |key| number(key).to_string());
        torn.push(match &met.what {
            What::Row { key, .. } => number(key).to_string(),
            What::Stretch { behind, up_to } => format!("{}..{}", told(behind), told(up_to)),
        });
    })
    .unwrap();
    (shown, torn)
}

fn all_but(missing: impl Fn(u16) -> bool) -> Vec<u16> {
    (0..=Tree::LAST).step_by(10).filter(|at| !missing(*at)).collect()
}

#[test]
fn a_torn_row_hides_no_other() {
    for torn in [vec![0], vec![500], vec![Tree::LAST], vec![500, 510, 530], vec![0, 10, 20]] {
        let tree = Tree { torn: torn.iter().copied().collect(), lost: Vec::new() };
        let (shown, told) = scanned(&tree, usize::MAX);
        assert_eq!(shown, all_but(|at| torn.contains(&at)), "{torn:?}");
        assert_eq!(told, torn.iter().map(u16::to_string).collect::<Vec<_>>());
    }
}

#[test]
fn a_lost_page_hides_what_is_in_it_and_no_more() {
    for (lost, told) in [
        (300..=390, "290..400"),
        (0..=90, "-..100"),
        (1900..=Tree::LAST, "1890..2000"),
        (10..=10, "0..20"),
        (10..=1980, "0..1990"),
    ] {
        let tree = Tree { lost: vec![lost.clone()], ..Tree::default() };
        let (shown, torn) = scanned(&tree, usize::MAX);
        assert_eq!((shown, torn), (all_but(|at| lost.contains(&at)), vec![told.to_owned()]), "{lost:?}");
    }
    let tree = Tree { lost: vec![0..=u16::MAX], ..Tree::default() };
    assert_eq!(scanned(&tree, usize::MAX), (vec![], vec!["-..-".to_owned()]), "nothing is left");
}

#[test]
fn damage_beside_damage_is_told_and_passed_one_by_one() {
    let tree = Tree { torn: [290, 400, 1000].into(), lost: vec![300..=390, 500..=690] };
    let (shown, told) = scanned(&tree, usize::MAX);
    let missing = |at: u16| [290, 400, 1000].contains(&at) || (300..=390).contains(&at) || (500..=690).contains(&at);
    assert_eq!(shown, all_but(missing));
    assert_eq!(told.len(), 5, "{told:?}");
}

#[test]
fn what_lies_above_the_tree_is_shown_where_the_tree_is_damaged() {
    let tree = Tree { torn: [100, 700].into(), lost: vec![300..=390] };
    let some = |number: u16| (key(number), Some(vec![2]));
    let above = [some(95), some(100), some(305), some(350), some(391), some(705), (key(320), None), some(9000)];
    let (shown, told) = scanned(&Layered(tree, above.into()), usize::MAX);
    let mut wanted = all_but(|at| at == 700 || (300..=390).contains(&at));
    wanted.extend([95, 305, 350, 391, 705, 9000]);
    wanted.sort_unstable();
    assert_eq!(shown, wanted);
    assert_eq!(told, ["290..400", "700"], "row 100 was written anew");
}

#[test]
fn a_scan_that_has_seen_enough_goes_no_further() {
    let tree = Tree { torn: [100].into(), lost: vec![300..=390] };
    assert_eq!(scanned(&tree, 5).1, Vec::<String>::new());
    assert_eq!(scanned(&tree, 15).1, ["100"]);
    assert_eq!(scanned(&Layered(tree, [(key(95), Some(vec![2]))].into()), 11).0.last(), Some(&95));
}
