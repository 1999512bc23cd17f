//! What a thread is inside of: a call back into it could only wait for itself (G2).

use std::cell::RefCell;
use std::thread::LocalKey;

/// The names of what a thread is inside of, innermost last. Each kind of it has a list of its own.
pub(crate) struct Names(RefCell<Vec<usize>>);

impl Names {
    pub(crate) const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }
}

/// Says that this thread is inside until it is dropped.
pub(crate) struct Inside(&'static LocalKey<Names>);

impl Inside {
    pub(crate) fn enter<T>(list: &'static LocalKey<Names>, it: &T) -> Self {
        list.with(|names| names.0.borrow_mut().push(name_of(it)));
        Self(list)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.with(|names| names.0.borrow_mut().pop());
    }
}

/// Says that this thread does somebody else's work until it is dropped: what it is inside of is not that caller's concern.
pub(crate) struct Outside {
    list: &'static LocalKey<Names>,
    names: Vec<usize>,
}

impl Outside {
    pub(crate) fn of(list: &'static LocalKey<Names>) -> Self {
        Self { list, names: list.with(|names| names.0.take()) }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.list.with(|names| names.0.replace(std::mem::take(&mut self.names)));
    }
}

pub(crate) fn is_inside<T>(list: &'static LocalKey<Names>, it: &T) -> bool {
    list.with(|names| names.0.borrow().contains(&name_of(it)))
}

/// Its address, which it has to itself for as long as it lives, and it outlives what runs inside of it.
fn name_of<T>(it: &T) -> usize {
    std::ptr::from_ref(it).addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static ONE: Names = const { Names::new() };
        static OTHER: Names = const { Names::new() };
    }

    #[test]
    fn a_list_knows_of_no_other_and_whoever_is_outside_of_one_is_inside_of_the_other_still() {
        let (a, b) = (1_u8, 2_u8);
        let _a = Inside::enter(&ONE, &a);
        let b_inside = Inside::enter(&OTHER, &b);
        assert_eq!([is_inside(&ONE, &a), is_inside(&ONE, &b)], [true, false]);
        let outside = Outside::of(&ONE);
        assert_eq!([is_inside(&ONE, &a), is_inside(&OTHER, &b)], [false, true]);
        drop(outside);
        drop(b_inside);
        assert_eq!([is_inside(&ONE, &a), is_inside(&OTHER, &b)], [true, false]);
    }
}
