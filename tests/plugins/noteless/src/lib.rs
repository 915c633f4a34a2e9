//! A shared library that is no engine. When it is opened, its constructor makes the file that the environment variable
//! `NOTELESS_MARK` names.

/// Name of the variable.
pub const MARK_VARIABLE: &str = "NOTELESS_MARK";

#[used]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static CONSTRUCTOR: extern "C" fn() = mark;

extern "C" fn mark() {
    if let Some(path) = std::env::var_os(MARK_VARIABLE) {
        let _ = std::fs::write(path, "ran");
    }
}
