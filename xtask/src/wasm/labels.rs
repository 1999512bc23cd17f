//! Blocks that nothing jumps to the end of, taken away: they are what is left of a `try` without its handler.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{Function, Instruction};
use wasmparser::Operator;

/// Writes instructions into `function`, without blocks that nothing jumps to the end of; labels are counted anew.
pub(super) fn write(
    with: &mut impl Reencode<Error = Infallible>,
    function: &mut Function,
    body: Vec<Operator<'_>>,
) -> Result<(), Error<Infallible>> {
    let used = targets(&body);
    let mut open = Open(Vec::new());
    for (at, operator) in body.into_iter().enumerate() {
        let instruction = match operator {
            Operator::Block { .. } if !used.contains(&at) => {
                open.0.push(false);
                continue;
            }
            Operator::End => {
                if open.0.pop() == Some(false) {
                    continue;
                }
                Instruction::End
            }
            Operator::Br { relative_depth } => Instruction::Br(open.depth(relative_depth)),
            Operator::BrIf { relative_depth } => Instruction::BrIf(open.depth(relative_depth)),
            Operator::Rethrow { relative_depth } => Instruction::Rethrow(open.depth(relative_depth)),
            Operator::Delegate { relative_depth } => {
                open.0.pop();
                Instruction::Delegate(open.depth(relative_depth))
            }
            Operator::BrTable { targets } => {
                let others = targets.targets().map(|target| target.map(|depth| open.depth(depth)));
                Instruction::BrTable(Cow::Owned(others.collect::<Result<_, _>>()?), open.depth(targets.default()))
            }
            operator => {
                if opens(&operator) {
                    open.0.push(true);
                }
                with.instruction(operator)?
            }
        };
        function.instruction(&instruction);
    }
    Ok(())
}

/// The blocks that are open, outermost first: whether each is kept.
struct Open(Vec<bool>);

impl Open {
    fn depth(&self, before: u32) -> u32 {
        let passed = self.0.iter().rev().zip(0..before);
        passed.map(|(is_kept, _)| u32::from(*is_kept)).sum()
    }
}

pub(super) fn opens(operator: &Operator<'_>) -> bool {
    matches!(operator, Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } | Operator::Try { .. })
}

/// Where the blocks begin that something jumps out of.
fn targets(body: &[Operator<'_>]) -> BTreeSet<usize> {
    let (mut open, mut found) = (Vec::new(), BTreeSet::new());
    for (at, operator) in body.iter().enumerate() {
        match operator {
            operator if opens(operator) => open.push(at),
            Operator::End => drop(open.pop()),
            Operator::Delegate { relative_depth } => {
                open.pop();
                found.extend(nth(&open, *relative_depth));
            }
            Operator::Br { relative_depth }
            | Operator::BrIf { relative_depth }
            | Operator::Rethrow { relative_depth } => found.extend(nth(&open, *relative_depth)),
            Operator::BrTable { targets } => {
                let depths = targets.targets().flatten().chain([targets.default()]);
                found.extend(depths.filter_map(|depth| nth(&open, depth)));
            }
            _ => {}
        }
    }
    found
}

/// The block that a label means; none where it is the function itself.
fn nth(open: &[usize], depth: u32) -> Option<usize> {
    open.iter().rev().nth(usize::try_from(depth).ok()?).copied()
}
