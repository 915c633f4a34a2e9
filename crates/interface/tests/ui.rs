//! Misuse of the author's side is a compile error that says what is wrong.

/// The compiler whose words the expected texts are. Another one says the same in other words.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn misuse_is_a_readable_compile_error() {
    if env!("OPENCLAW_TOOLCHAIN").starts_with(COMPILER) {
        trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
    } else {
        println!("skipped: the expected texts are those of {COMPILER}");
    }
}
