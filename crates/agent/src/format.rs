//! Numbers as reports show them. Pure functions; never fail.

/// A token count in few characters: `999`, `1.0k`, `32k`, `1.2m`.
///
/// Negative counts and what is no number are 0. Rounds like the original, where a tie goes up.
#[must_use]
pub fn format_token_count(tokens: f64) -> String {
    let tokens = if tokens.is_finite() {
        tokens.max(0.0)
    } else {
        0.0
    };
    if tokens < 1_000.0 {
        return format!("{}", (tokens + 0.5).floor());
    }
    if tokens < 10_000.0 {
        return format!("{}k", one_decimal(tokens / 1_000.0));
    }
    if tokens < 999_500.0 {
        return format!("{}k", (tokens / 1_000.0 + 0.5).floor());
    }
    format!("{}m", one_decimal(tokens / 1_000_000.0))
}

fn one_decimal(value: f64) -> String {
    // The formatter rounds ties to even; a quarter is the only tie it would round down.
    let up = if value.fract() == 0.25 { 0.01 } else { 0.0 };
    format!("{:.1}", value + up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_take_few_characters() {
        let check = |tokens: f64, text: &str| assert_eq!(format_token_count(tokens), text);
        check(f64::NAN, "0");
        check(f64::INFINITY, "0");
        check(-5.0, "0");
        check(12.7, "13");
        check(999.0, "999");
        check(1_250.0, "1.3k");
        check(9_950.0, "9.9k");
        check(9_999.0, "10.0k");
        check(10_500.0, "11k");
        check(999_499.0, "999k");
        check(999_500.0, "1.0m");
        check(1_250_000.0, "1.3m");
        check(1e9, "1000.0m");
    }
}
