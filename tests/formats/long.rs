//! Long files.

use fencesmith::import::{self, Format};
use fencesmith::lang::resolve::resolve;
use fencesmith::lower::lower;
use fencesmith::source::Source;
use std::time::{Duration, Instant};

/// Reading takes a time that grows with the length of a file.
#[test]
fn long_files() {
    const LINES: usize = 20_000;
    let lines = |line: &dyn Fn(usize) -> String| (0..LINES).map(line).collect::<String>();
    let writes = lines(&|_| "  write: x := 1;\n".to_string());
    let chain = lines(&|n| format!("  transition q{n} q{} write 1 0\n", n + 1));
    let ends = lines(&|n| format!("  transition q0 q{} noop\n", n + 1));
    let moves = lines(&|_| " MOV [x],$1 ;\n".to_string());
    let thread =
        |transitions: &str| format!("memory_size 1\nthread t0\n  initial q0\n{transitions}end\n");
    let files = [
        (
            Format::Rmm,
            format!("forbidden\n  A\ndata\n  x = 0 : [0:1]\nprocess\ntext\n{writes}  A: nop\n"),
        ),
        (Format::Trencher, thread(&chain)),
        (Format::Trencher, thread(&ends)),
        (
            Format::Litmus,
            format!("X86 long\n{{ }}\n P0 ;\n{moves}exists (x=1)\n"),
        ),
    ];
    for (format, text) in files {
        let source = Source::new("long", text);
        let start = Instant::now();
        let ast = import::read(format, &source, &[]).expect("it is well-formed");
        let symbols = resolve(&ast).expect("names are known");
        lower(&ast, &symbols);
        let took = start.elapsed();
        assert!(took < Duration::from_secs(20), "{format:?}: {took:?}");
    }
}
