//! The order of the module's functions, for gzip: it looks 32 KB back, so what is alike has to stand together.
//!
//! A method that is compiled once for each of several types is nearly the same code each time. The glue leaves functions sorted by
//! size; sorted by name, without the types, the module is a thirtieth smaller when it is compressed.

use anyhow::Result;
use std::collections::BTreeMap;
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{CodeSectionReader, CustomSectionReader, FunctionSectionReader, KnownCustom, Name, Parser, Payload};

type Done = Result<(), Error<Infallible>>;

/// The same module, its functions beside their kin. Its names are read, and left out.
pub(super) fn reordered(module: &[u8]) -> Result<Vec<u8>> {
    let functions = Functions::of(module)?;
    let mut made = Module::new();
    functions.order().parse_core_module(&mut made, Parser::new(0), module)?;
    Ok(made.finish())
}

/// What the order is made from.
#[derive(Default)]
struct Functions {
    imported: u32,
    names: BTreeMap<u32, String>,
    sizes: Vec<usize>,
}

impl Functions {
    fn of(module: &[u8]) -> Result<Self> {
        let mut found = Self::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(section) => {
                    let is_function =
                        |import: &wasmparser::Import<'_>| matches!(import.ty, wasmparser::TypeRef::Func(_));
                    let imports = section.into_imports().collect::<Result<Vec<_>, _>>()?;
                    found.imported = u32::try_from(imports.iter().filter(|import| is_function(import)).count())?;
                }
                Payload::CodeSectionEntry(body) => found.sizes.push(body.range().len()),
                Payload::CustomSection(section) => found.read_names(&section)?,
                _ => {}
            }
        }
        anyhow::ensure!(!found.names.is_empty(), "the module has no names to order its functions by");
        Ok(found)
    }

    fn read_names(&mut self, section: &CustomSectionReader<'_>) -> Result<()> {
        let KnownCustom::Name(names) = section.as_known() else { return Ok(()) };
        for name in names {
            if let Name::Function(functions) = name? {
                for naming in functions {
                    let naming = naming?;
                    self.names.insert(naming.index, kin(&format!("{:#}", rustc_demangle::demangle(naming.name))));
                }
            }
        }
        Ok(())
    }

    fn order(&self) -> Order {
        let mut old: Vec<usize> = (0..self.sizes.len()).collect();
        let name = |at: &usize| u32::try_from(*at).ok().and_then(|at| self.names.get(&(at + self.imported)));
        old.sort_by_key(|at| (name(at), self.sizes[*at], *at));
        let mut new = vec![0; old.len()];
        for (to, from) in (0..).zip(&old) {
            new[*from] = to;
        }
        Order { imported: self.imported, old, new }
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
