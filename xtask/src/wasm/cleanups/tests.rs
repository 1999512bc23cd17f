use super::{operators, trimmed};
use wasm_encoder::{
    BlockType, CodeSection, ExportKind, ExportSection, Function, FunctionSection, GlobalSection, GlobalType,
    Instruction as I, MemArg, MemorySection, MemoryType, Module, NameMap, NameSection, TypeSection, ValType,
};
use wasmparser::{Operator, Parser, Payload};

const WORK: u32 = 0;
const FREE: u32 = 1;
const UNLOCK: u32 = 2;
const AT_ZERO: MemArg = MemArg { offset: 0, align: 2, memory_index: 0 };

/// A module whose last function has a handler with this in it, before it hands the panic on.
fn module(handler: &[I<'_>]) -> Vec<u8> {
    let free = vec![I::LocalGet(0), I::Drop];
    let unlock = vec![I::LocalGet(0), I::I32Const(0), I::I32Store(AT_ZERO)];
    let mut last = vec![I::Try(BlockType::Empty), I::LocalGet(0), I::Call(WORK), I::CatchAll];
    last.extend_from_slice(handler);
    last.extend([I::Rethrow(0), I::End]);

    let (mut types, mut functions, mut code, mut names) =
        (TypeSection::new(), FunctionSection::new(), CodeSection::new(), NameMap::new());
    types.ty().function([ValType::I32], []);
    let of = [
        ("work", vec![]),
        ("__rust_dealloc", free),
        ("core::ptr::drop_in_place::<std::sync::MutexGuard<u8>>", unlock),
        ("last", last),
    ];
    for (at, (name, body)) in (0..).zip(of) {
        functions.function(0);
        names.append(at, name);
        let mut function = Function::new([]);
        for instruction in &body {
            function.instruction(instruction);
        }
        function.instruction(&I::End);
        code.function(&function);
    }
    let mut memories = MemorySection::new();
    memories.memory(MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None });
    let mut globals = GlobalSection::new();
    let pointer = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
    globals.global(pointer, &wasm_encoder::ConstExpr::i32_const(0));
    let mut exports = ExportSection::new();
    exports.export("last", ExportKind::Func, 3);
    let mut name_section = NameSection::new();
    name_section.functions(&names);
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&memories).section(&globals).section(&exports);
    module.section(&code).section(&name_section);
    module.finish()
}

/// Whether the handler is there still, in a module that is well.
fn keeps(handler: &[I<'_>]) -> bool {
    let trimmed = trimmed(&module(handler)).unwrap();
    let mut tries = 0;
    for payload in Parser::new(0).parse_all(&trimmed) {
        if let Payload::CodeSectionEntry(body) = payload.unwrap() {
            let body = operators(&body).unwrap();
            tries += body.iter().filter(|operator| matches!(operator, Operator::Try { .. })).count();
            let depth = body.iter().fold(1_i32, |depth, operator| match operator {
                Operator::Try { .. } | Operator::Block { .. } => depth + 1,
                Operator::End => depth - 1,
                _ => depth,
            });
            assert_eq!(depth, 0, "{body:?}");
        }
    }
    tries == 1
}

#[test]
fn a_handler_that_only_frees_memory_is_left_out() {
    assert!(!keeps(&[I::LocalGet(0), I::Call(FREE)]));
    assert!(!keeps(&[I::GlobalGet(0), I::GlobalSet(0), I::LocalGet(0), I::Call(FREE), I::LocalGet(0), I::Call(FREE)]));
}

#[test]
fn labels_are_counted_anew_where_a_block_is_gone() {
    let jump = [I::Block(BlockType::Empty), I::Block(BlockType::Empty), I::LocalGet(0), I::BrIf(1), I::End, I::End];
    let unlocking = [&[I::LocalGet(0), I::Call(UNLOCK)], &jump[..]].concat();
    let trimmed = trimmed(&module(&unlocking)).unwrap();
    let bodies = Parser::new(0).parse_all(&trimmed).filter_map(|payload| match payload.unwrap() {
        Payload::CodeSectionEntry(body) => Some(operators(&body).unwrap()),
        _ => None,
    });
    let last = bodies.last().unwrap();
    assert!(last.iter().any(|operator| matches!(operator, Operator::BrIf { relative_depth: 0 })), "{last:?}");
    assert_eq!(last.iter().filter(|operator| matches!(operator, Operator::Block { .. })).count(), 1);
    assert!(last.iter().any(|operator| matches!(operator, Operator::Rethrow { relative_depth: 0 })), "{last:?}");
}

#[test]
fn a_handler_that_does_anything_else_stays() {
    assert!(keeps(&[I::LocalGet(0), I::Call(UNLOCK)]));
    assert!(keeps(&[I::LocalGet(0), I::Call(FREE), I::LocalGet(0), I::Call(UNLOCK)]));
    assert!(keeps(&[I::LocalGet(0), I::I32Const(0), I::I32Store(AT_ZERO)]));
    assert!(keeps(&[I::Return]));
    assert!(keeps(&[I::LocalGet(0), I::BrIf(0)]));
}

#[test]
fn a_count_of_references_may_be_counted_down_and_a_count_of_borrows_not() {
    let count = |last: I<'static>| {
        [
            I::LocalGet(0),
            I::LocalGet(0),
            I::I32Load(AT_ZERO),
            I::LocalTee(0),
            I::I32Const(-1),
            I::I32Add,
            I::I32Store(AT_ZERO),
            I::Block(BlockType::Empty),
            I::LocalGet(0),
            I::I32Const(1),
            last,
            I::BrIf(0),
            I::LocalGet(0),
            I::Call(FREE),
            I::End,
        ]
    };
    assert!(!keeps(&count(I::I32Ne)));
    assert!(keeps(&count(I::I32Xor)));
}
