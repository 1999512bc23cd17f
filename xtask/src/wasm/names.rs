//! What a module calls its functions.

use anyhow::Result;
use std::collections::BTreeMap;
use wasmparser::{Import, KnownCustom, Name, Parser, Payload, TypeRef};

/// The names of a module's functions, as Rust writes them.
#[derive(Default)]
pub(super) struct Names {
    /// How many functions are another's: the module's own are counted from there.
    pub(super) imported: u32,
    names: BTreeMap<u32, String>,
}

impl Names {
    pub(super) fn of(module: &[u8]) -> Result<Self> {
        let mut found = Self::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(section) => {
                    let imports = section.into_imports().collect::<Result<Vec<_>, _>>()?;
                    let is_function = |import: &&Import<'_>| matches!(import.ty, TypeRef::Func(_));
                    for import in imports.iter().filter(is_function) {
                        found.names.insert(found.imported, import.name.to_owned());
                        found.imported += 1;
                    }
                }
                Payload::CustomSection(section) => {
                    if let KnownCustom::Name(names) = section.as_known() {
                        names.into_iter().try_for_each(|name| found.read(name?))?;
                    }
                }
                _ => {}
            }
        }
        anyhow::ensure!(!found.names.is_empty(), "the module has no names");
        Ok(found)
    }

    fn read(&mut self, names: Name<'_>) -> Result<(), wasmparser::BinaryReaderError> {
        if let Name::Function(functions) = names {
            for naming in functions {
                let naming = naming?;
                self.names.insert(naming.index, format!("{:#}", rustc_demangle::demangle(naming.name)));
            }
        }
        Ok(())
    }

    pub(super) fn of_function(&self, function: u32) -> Option<&str> {
        self.names.get(&function).map(String::as_str)
    }
}
