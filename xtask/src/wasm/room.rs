//! Room on the stack, before a call is begun.
//!
//! Where the stack is over inside the module, the engine runs no handler: locks stay locked, and allocations half made, for as long as
//! the instance lives. So each call asks first for as much stack as any call takes. That has to cost nothing: the module is given a function whose
//! frame is large, because of a branch that it never takes, and that calls itself a few times. Engines look whether a frame fits
//! before they enter it, and throw a `RangeError`.

use anyhow::Result;
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{
    BlockType, CodeSection, ExportKind, ExportSection, Function, FunctionSection, ImportSection, Instruction, Module,
    TypeSection, ValType,
};
use wasmparser::{
    CodeSectionReader, ExportSectionReader, FunctionSectionReader, ImportSectionReader, Parser, TypeRef,
    TypeSectionReader,
};

type Done = Result<(), Error<Infallible>>;

/// What the function is called among the module's exports.
const NAME: &str = "stack_room";
/// Numbers of eight bytes that a frame has room for.
const SLOTS: usize = 1024;
/// As many frames as a call may take: 128 KiB. `tests/node/stack.test.mjs` finds out whether that is enough.
const FRAMES_OF_A_CALL: u32 = 16;
/// As many as it takes to leave an argument in the module's memory.
const FRAMES_OF_AN_ARGUMENT: u32 = 2;

/// The module, with the function.
pub(super) fn with_room(module: &[u8]) -> Result<Vec<u8>> {
    let mut made = Module::new();
    Adding::default().parse_core_module(&mut made, Parser::new(0), module)?;
    Ok(made.finish())
}

/// The glue, asking. Arguments are left before a call, and by what it calls: those ask for less, or they could not in the middle of a call.
pub(super) fn asking(glue: &str) -> Result<String> {
    let mut asking = String::new();
    let mut calls = 0;
    for line in glue.lines() {
        asking += line;
        asking.push('\n');
        let frames = if line.starts_with("function __wbg_call_guard(") {
            calls += 1;
            FRAMES_OF_A_CALL
        } else if line.starts_with("function pass") || line.starts_with("function addToExternrefTable0(") {
            FRAMES_OF_AN_ARGUMENT
        } else {
            continue;
        };
        let ask = format!("    wasm.{NAME}({frames});\n");
        asking += &ask;
    }
    anyhow::ensure!(calls == 1, "the glue guards its calls in another way than it did");
    Ok(asking)
}

#[derive(Default)]
struct Adding {
    imported: u32,
    signature: u32,
    function: u32,
}

impl Reencode for Adding {
    type Error = Infallible;

    fn parse_type_section(&mut self, to: &mut TypeSection, from: TypeSectionReader<'_>) -> Done {
        utils::parse_type_section(self, to, from)?;
        self.signature = to.len();
        to.ty().function([ValType::I32], [ValType::I64]);
        Ok(())
    }

    fn parse_import_section(&mut self, to: &mut ImportSection, from: ImportSectionReader<'_>) -> Done {
        for import in from.clone().into_imports() {
            self.imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
        }
        utils::parse_import_section(self, to, from)
    }

    fn parse_function_section(&mut self, to: &mut FunctionSection, from: FunctionSectionReader<'_>) -> Done {
        utils::parse_function_section(self, to, from)?;
        self.function = self.imported + to.len();
        to.function(self.signature);
        Ok(())
    }

    fn parse_export_section(&mut self, to: &mut ExportSection, from: ExportSectionReader<'_>) -> Done {
        utils::parse_export_section(self, to, from)?;
        to.export(NAME, ExportKind::Func, self.function);
        Ok(())
    }

    fn parse_code_section(&mut self, to: &mut CodeSection, from: CodeSectionReader<'_>) -> Done {
        utils::parse_code_section(self, to, from)?;
        to.function(&room(self.function));
        Ok(())
    }
}

/// `room(frames)`: itself once less, or zero at the end. Below zero, where nobody calls it, as many numbers as a frame shall have room
/// for: each is the answer of a call, and all are needed after the last of them.
fn room(itself: u32) -> Function {
    let mut body = Function::new([]);
    let mut write = |instruction: Instruction<'_>| {
        body.instruction(&instruction);
    };
    write(Instruction::LocalGet(0));
    write(Instruction::I32Const(0));
    write(Instruction::I32LtS);
    write(Instruction::If(BlockType::Result(ValType::I64)));
    for _ in 0..SLOTS {
        write(Instruction::LocalGet(0));
        write(Instruction::Call(itself));
    }
    for _ in 1..SLOTS {
        write(Instruction::I64Add);
    }
    write(Instruction::Else);
    write(Instruction::LocalGet(0));
    write(Instruction::If(BlockType::Result(ValType::I64)));
    write(Instruction::LocalGet(0));
    write(Instruction::I32Const(1));
    write(Instruction::I32Sub);
    write(Instruction::Call(itself));
    write(Instruction::Else);
    write(Instruction::I64Const(0));
    write(Instruction::End);
    write(Instruction::End);
    write(Instruction::End);
    body
}
