//! The order of the module's functions, for gzip: it looks 32 KB back, so what is alike has to stand together.
//!
//! A method that is compiled once for each of several types is nearly the same code each time. The glue leaves functions sorted by
//! size; sorted by name, without the types, the module is a thirtieth smaller when it is compressed.

use super::names::Names;
use anyhow::Result;
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{CodeSectionReader, CustomSectionReader, FunctionSectionReader, Parser, Payload};

type Done = Result<(), Error<Infallible>>;

/// The same module, its functions beside their kin. Its names are read, and left out.
pub(super) fn reordered(module: &[u8]) -> Result<Vec<u8>> {
    let functions = Functions::of(module)?;
    let mut made = Module::new();
    functions.order().parse_core_module(&mut made, Parser::new(0), module)?;
    Ok(made.finish())
}

/// What the order is made from.
struct Functions {
    names: Names,
    sizes: Vec<usize>,
}

impl Functions {
    fn of(module: &[u8]) -> Result<Self> {
        let mut sizes = Vec::new();
        for payload in Parser::new(0).parse_all(module) {
            if let Payload::CodeSectionEntry(body) = payload? {
                sizes.push(body.range().len());
            }
        }
        Ok(Self { names: Names::of(module)?, sizes })
    }

    fn order(&self) -> Order {
        let mut old: Vec<usize> = (0..self.sizes.len()).collect();
        let imported = self.names.imported;
        let kin_at = |at: &usize| u32::try_from(*at).ok().and_then(|at| self.names.of_function(at + imported)).map(kin);
        old.sort_by_cached_key(|at| (kin_at(at), self.sizes[*at], *at));
        let mut new = vec![0; old.len()];
        for (to, from) in (0..).zip(&old) {
            new[*from] = to;
        }
        Order { imported, old, new }
    }
}

/// A function's path without the types that it is compiled for.
fn kin(name: &str) -> String {
    let of_impl = name.strip_prefix('<').and_then(|inside| inside.rsplit_once(">::"));
    let (head, rest) = of_impl.unwrap_or(("", name));
    let mut kin = head.split('<').next().unwrap_or_default().to_owned();
    let mut depth = 0_usize;
    for character in rest.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kin.push(character),
            _ => {}
        }
    }
    kin
}

/// Which of the module's own functions stands where: `old` by its new place, `new` by its old one.
struct Order {
    imported: u32,
    old: Vec<usize>,
    new: Vec<u32>,
}

impl Reencode for Order {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<Infallible>> {
        let own = function.checked_sub(self.imported).and_then(|own| self.new.get(usize::try_from(own).ok()?));
        Ok(own.map_or(function, |own| own + self.imported))
    }

    fn parse_function_section(&mut self, to: &mut FunctionSection, from: FunctionSectionReader<'_>) -> Done {
        let types = from.into_iter().collect::<Result<Vec<_>, _>>()?;
        self.old.iter().for_each(|at| {
            to.function(types[*at]);
        });
        Ok(())
    }

    fn parse_code_section(&mut self, to: &mut CodeSection, from: CodeSectionReader<'_>) -> Done {
        let bodies = from.into_iter().collect::<Result<Vec<_>, _>>()?;
        for at in self.old.clone() {
            utils::parse_function_body(self, to, bodies[at].clone())?;
        }
        Ok(())
    }

    /// Only what the engine is told: names would be of the old places.
    fn parse_custom_section(&mut self, to: &mut Module, section: CustomSectionReader<'_>) -> Done {
        if section.name() == "target_features" { utils::parse_custom_section(self, to, section) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::kin;

    #[test]
    fn a_method_is_kin_to_itself_for_another_type() {
        assert_eq!(kin("<tree::Mutator<&str, &[u8]>>::insert"), "tree::Mutatorinsert");
        assert_eq!(kin("<tree::Mutator<u64, Vec<u8>>>::insert"), "tree::Mutatorinsert");
        assert_eq!(kin("core::ptr::drop_in_place::<Vec<u8>>"), "core::ptr::drop_in_place::");
    }
}
