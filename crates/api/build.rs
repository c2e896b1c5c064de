//! Puts the pages of docs/errors into the program, for `/errors/CODE` and `baton explain`.
#![expect(clippy::disallowed_methods, reason = "this reads the repository while it is built")]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut pages = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let code = path.file_stem().and_then(|it| it.to_str()).map(str::to_owned);
        if let Some(code) = code.filter(|it| it != "README") {
            pages.push((code, path.canonicalize()?));
        }
    }
    pages.sort();
    let mut table = "pub const ERROR_PAGES: &[(&str, &str)] = &[\n".to_owned();
    for (code, path) in pages {
        // Writing into a text never fails.
        let _ = writeln!(table, "    ({code:?}, include_str!({:?})),", path.display().to_string());
    }
    table.push_str("];\n");
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("error_pages.rs"), table)
}
