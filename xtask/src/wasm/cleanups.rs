//! What runs when a panic unwinds, without what only frees memory.
//!
//! A call that may panic has a handler behind it that drops what its function holds. Half of them do nothing but give memory back:
//! without those a panic leaks that much, and the module is a fortieth smaller. A handler that also lets go of a lock, ends a borrow or
//! does anything else stays as it is.

use super::labels::{self, opens};
use super::names::Names;
use anyhow::Result;
use std::collections::BTreeSet;
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{CodeSection, Module};
use wasmparser::{FunctionBody, Operator, Parser, Payload};

/// What a handler may call, and only frees memory: by parts of names. Panics are among it, because a handler that is left out raises
/// none.
const FREES: [&str; 8] = [
    "__rust_dealloc",
    "<alloc::raw_vec::RawVecInner>::deallocate",
    "__wbindgen_object_drop_ref",
    "__wbindgen_externref_statics_end",
    "core::panicking::",
    "core::option::expect_failed",
    "core::option::unwrap_failed",
    "core::result::unwrap_failed",
];

/// Collections of std that write to what they are about to free, or to their own stack, while they are dropped: by how names begin.
const COLLECTIONS: [&str; 4] = [
    "<alloc::collections::btree::",
    "<alloc::collections::vec_deque::",
    "<alloc::vec::into_iter::IntoIter",
    "<hashbrown::raw::RawTable",
];

/// Where in its function a `try` begins and ends, and its handler begins.
struct Try {
    begins: usize,
    handler: usize,
    ends: usize,
}

/// The same module, without handlers that only free memory.
pub(super) fn trimmed(module: &[u8]) -> Result<Vec<u8>> {
    let names = Names::of(module)?;
    let mut bodies = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CodeSectionEntry(body) = payload? {
            bodies.push(operators(&body)?);
        }
    }
    let mut made = Module::new();
    Trim { frees: freeing(&bodies, &names) }.parse_core_module(&mut made, Parser::new(0), module)?;
    Ok(made.finish())
}

fn operators<'a>(body: &FunctionBody<'a>) -> Result<Vec<Operator<'a>>, wasmparser::BinaryReaderError> {
    body.get_operators_reader()?.into_iter().collect()
}

/// The functions that only free memory: those that do nothing else themselves, less those that call others, until none is left.
fn freeing(bodies: &[Vec<Operator<'_>>], names: &Names) -> BTreeSet<u32> {
    let own = || (names.imported..).zip(bodies);
    let is_told =
        |function: u32| names.of_function(function).is_some_and(|name| FREES.iter().any(|part| name.contains(part)));
    let is_collection = |function: u32| {
        names.of_function(function).is_some_and(|name| COLLECTIONS.iter().any(|start| name.starts_with(start)))
    };
    let mut frees: BTreeSet<u32> = (0..names.imported).filter(|function| is_told(*function)).collect();
    frees.extend(own().filter_map(|(function, body)| {
        let only_frees = is_told(function) || (0..body.len()).all(|at| is_harmless(body, at, is_collection(function)));
        only_frees.then_some(function)
    }));
    loop {
        let calls_others = |body: &[Operator<'_>]| body.iter().any(|operator| calls_none_of(operator, &frees));
        let wrong: Vec<u32> = own()
            .filter(|(function, body)| frees.contains(function) && !is_told(*function) && calls_others(body))
            .map(|(function, _)| function)
            .collect();
        if wrong.is_empty() {
            return frees;
        }
        frees.retain(|function| !wrong.contains(function));
    }
}

fn calls_none_of(operator: &Operator<'_>, frees: &BTreeSet<u32>) -> bool {
    matches!(operator, Operator::Call { function_index } if !frees.contains(function_index))
}

/// Whether an instruction changes nothing but locals, the stack's pointer and counts of references. What it calls is another question.
fn is_harmless(body: &[Operator<'_>], at: usize, may_write: bool) -> bool {
    match body[at] {
        Operator::I32Store { .. } => may_write || is_count(body, at),
        Operator::I64Store { .. }
        | Operator::F32Store { .. }
        | Operator::F64Store { .. }
        | Operator::I32Store8 { .. }
        | Operator::I32Store16 { .. }
        | Operator::I64Store8 { .. }
        | Operator::I64Store16 { .. }
        | Operator::I64Store32 { .. }
        | Operator::MemoryCopy { .. }
        | Operator::MemoryFill { .. } => may_write,
        // The first global is the stack's pointer.
        Operator::GlobalSet { global_index } => global_index == 0,
        Operator::CallIndirect { .. }
        | Operator::ReturnCall { .. }
        | Operator::ReturnCallIndirect { .. }
        | Operator::MemoryGrow { .. }
        | Operator::TableSet { .. }
        | Operator::TableGrow { .. }
        | Operator::TableFill { .. }
        | Operator::Catch { .. }
        | Operator::Throw { .. } => false,
        _ => true,
    }
}

/// Whether a store counts a reference less, and what follows looks whether it was the last: `Arc` and `Rc`.
fn is_count(body: &[Operator<'_>], at: usize) -> bool {
    let before = at.checked_sub(4).map(|from| &body[from..at]);
    let Some(
        [
            Operator::I32Load { .. },
            Operator::LocalTee { local_index: count },
            Operator::I32Const { value: -1 },
            Operator::I32Add,
        ],
    ) = before
    else {
        return false;
    };
    let after = body[at + 1..].iter().filter(|operator| !matches!(operator, Operator::Block { .. })).take(3);
    matches!(
        after.collect::<Vec<_>>()[..],
        [Operator::LocalGet { local_index }, Operator::I32Const { value: 1 }, Operator::I32Ne | Operator::I32Eq] if local_index == count
    )
}

/// Leaves handlers out.
struct Trim {
    frees: BTreeSet<u32>,
}

impl Trim {
    /// Whether all that the handler does before it hands the panic on is to free memory.
    fn only_frees(&self, body: &[Operator<'_>], handler: &Try) -> bool {
        let range = handler.handler + 1..handler.ends;
        matches!(body[handler.ends - 1], Operator::Rethrow { .. } | Operator::Unreachable)
            && range.clone().all(|at| is_harmless(body, at, false) && !calls_none_of(&body[at], &self.frees))
            && !leaves(&body[range])
    }
}

/// Whether a handler goes on anywhere outside itself, other than by handing the panic on.
fn leaves(handler: &[Operator<'_>]) -> bool {
    let mut depth = 0_u32;
    for operator in handler {
        let goes_out = match operator {
            Operator::Br { relative_depth } | Operator::BrIf { relative_depth } => *relative_depth >= depth,
            Operator::BrTable { .. } | Operator::Return => true,
            Operator::Rethrow { relative_depth } => *relative_depth > depth,
            _ => false,
        };
        if goes_out {
            return true;
        }
        match operator {
            operator if opens(operator) => depth += 1,
            Operator::End | Operator::Delegate { .. } => depth -= 1,
            _ => {}
        }
    }
    false
}

/// Each `try` with one handler, for whatever is thrown.
fn tries(body: &[Operator<'_>]) -> Vec<Try> {
    let (mut open, mut found) = (Vec::new(), Vec::new());
    for (at, operator) in body.iter().enumerate() {
        match operator {
            operator if opens(operator) => open.push((at, None, true)),
            Operator::CatchAll | Operator::Catch { .. } => {
                if let Some((_, handler, is_only)) = open.last_mut() {
                    *is_only = handler.is_none() && matches!(operator, Operator::CatchAll);
                    *handler = Some(at);
                }
            }
            Operator::End | Operator::Delegate { .. } => {
                if let Some((begins, Some(handler), true)) = open.pop() {
                    found.push(Try { begins, handler, ends: at });
                }
            }
            _ => {}
        }
    }
    found
}

impl Reencode for Trim {
    type Error = Infallible;

    fn parse_function_body(&mut self, to: &mut CodeSection, from: FunctionBody<'_>) -> Result<(), Error<Infallible>> {
        let mut function = utils::new_function_with_parsed_locals(self, &from)?;
        let body = operators(&from)?;
        let left_out: Vec<Try> = tries(&body).into_iter().filter(|one| self.only_frees(&body, one)).collect();
        let begins: BTreeSet<usize> = left_out.iter().map(|one| one.begins).collect();
        let skipped: BTreeSet<usize> = left_out.iter().flat_map(|one| one.handler..one.ends).collect();
        let kept = body.into_iter().enumerate().filter(|(at, _)| !skipped.contains(at));
        // A `try` without its handler is a block.
        let kept = kept.map(|(at, operator)| match operator {
            Operator::Try { blockty } if begins.contains(&at) => Operator::Block { blockty },
            operator => operator,
        });
        labels::write(self, &mut function, kept.collect())?;
        to.function(&function);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
