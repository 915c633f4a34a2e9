//! The `openclaw` command, built beside the suites, which cannot ask cargo for another package's binary.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    openclaw_cli::main()
}
