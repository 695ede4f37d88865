use std::process::ExitCode;

fn main() -> ExitCode {
    fencesmith::main()
}
