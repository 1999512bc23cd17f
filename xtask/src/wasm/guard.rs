//! What the glue does not check by itself, written into its text: the package's own errors, with a code, in the place of what is read
//! beyond the module's memory or stored as another text.

use anyhow::Result;

/// What stands in the glue once, and what stands there instead.
const CHANGES: &[(&str, &str)] = &[
    // An argument that JavaScript cannot convert, a `BigInt` for a number, throws too, though the module was not entered: only a trap
    // leaves it in no state to go on.
    (
        "    getInt32ArrayMemory0()[__wbg_terminated_addr] = 1;",
        "    if (!(e instanceof WebAssembly.RuntimeError)) throw e;\n    getInt32ArrayMemory0()[__wbg_terminated_addr] = 1;",
    ),
    // What is no text would be read as bytes that are not there.
    (
        "function passStringToWasm0(arg, malloc, realloc) {\n",
        "function passStringToWasm0(arg, malloc, realloc) {\n    if (typeof arg !== \"string\") throw noText(arg);\n",
    ),
    // Half a surrogate pair would become another character. Where all of it is ASCII the glue has looked already.
    (
        "    if (offset !== len) {\n        if (offset !== 0) {\n            arg = arg.slice(offset);",
        "    if (offset !== len) {
        if (!arg.isWellFormed()) {
            wasm.__wbindgen_free(ptr, len, 1);
            throw noText(arg);
        }
        if (offset !== 0) {
            arg = arg.slice(offset);",
    ),
    // The same of texts in a list.
    (
        "function passArrayJsValueToWasm0(array, malloc) {\n",
        "function passArrayJsValueToWasm0(array, malloc) {\n    checkWords(array);\n",
    ),
    // An object of another copy of the package, or none.
    ("throw new Error(`expected instance of ${klass.name}`);", "throw noInstance(instance, klass);"),
    // What is called before the module is loaded.
    (
        "let wasmModule, wasmInstance, wasm;",
        "let wasmModule, wasmInstance, wasm = new Proxy({}, { get: () => { throw noModule(); } });",
    ),
];

/// Whether the module is loaded, wherever that is asked: what stands for it until then is defined, too.
const IS_LOADED: (&str, &str) =
    ("if (wasm !== undefined) return wasm;", "if (wasmInstance !== undefined) return wasm;");

/// Texts that tell of what was done, and are stored all the same: what a closure returned, an answer's media type, a reason to park, an
/// error's message.
const TOLD: [&str; 4] = ["ret", "text", "error", "media_type"];

/// The glue with all of it.
pub(super) fn guarded(glue: &str) -> Result<String> {
    let mut guarded = glue.to_owned();
    for name in TOLD {
        let lenient = format!("passStringToWasm0(typeof {name} === \"string\" ? {name}.toWellFormed() : {name},");
        guarded = changed(&guarded, &format!("passStringToWasm0({name},"), &lenient)?;
    }
    for (before, after) in CHANGES {
        anyhow::ensure!(guarded.matches(before).count() == 1, "the glue is not as it was; it has no one `{before}`");
        guarded = guarded.replace(before, after);
    }
    guarded = changed(&guarded, IS_LOADED.0, IS_LOADED.1)?;
    guarded = with_numbers_checked(&guarded)?;
    let (types, code) = guarded.split_once('\n').unwrap_or_default();
    Ok(format!(
        "{types}\nimport {{ checkNumber, checkWhole, checkWords, noInstance, noModule, noText }} from \"../door.js\";\n{code}"
    ))
}

/// Numbers that name something: a part of one would name another.
const WHOLE: [&str; 3] = ["after", "fence_number", "id"];

/// JavaScript would make a number of whatever comes. Which arguments are numbers, a comment above each function says.
fn with_numbers_checked(glue: &str) -> Result<String> {
    let (mut checked, mut checks, mut functions) = (String::new(), String::new(), 0);
    for line in glue.lines() {
        checked += line;
        checked.push('\n');
        let told = line.trim_start();
        if let Some(name) = told.strip_prefix("* @param {number} ") {
            checks += &check(name, "");
        } else if let Some(name) = told.strip_prefix("* @param {number | null} [") {
            let name = name.trim_end_matches(']');
            checks += &check(name, &format!("if (!isLikeNone({name})) "));
        } else if !told.starts_with('*') {
            functions += usize::from(!checks.is_empty());
            checked += &std::mem::take(&mut checks);
        }
    }
    anyhow::ensure!(functions > 0, "no function of the glue says that it takes a number");
    Ok(checked)
}

fn check(name: &str, unless_none: &str) -> String {
    let check = if WHOLE.contains(&name) { "checkWhole" } else { "checkNumber" };
    format!("    {unless_none}{check}({name});\n")
}

fn changed(text: &str, before: &str, after: &str) -> Result<String> {
    anyhow::ensure!(text.contains(before), "the glue is not as it was; it has no `{before}`");
    Ok(text.replace(before, after))
}
