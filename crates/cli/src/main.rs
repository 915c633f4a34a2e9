//! The `openclaw` command.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    openclaw_cli::main()
}
