//! ISO 8601 texts as written in rows to milliseconds.

/// Milliseconds since 1970 of `YYYY-MM-DDTHH:MM:SS[.fff](Z|±hh:mm)`; `None` for anything else.
pub(crate) fn epoch_ms(iso: &str) -> Option<i64> {
    let (date, rest) = iso.split_once('T')?;
    let mut date = date.splitn(3, '-').map(number);
    let days = days(date.next()??, date.next()??, date.next()??)?;

    let zone_at = rest.find(['Z', '+', '-'])?;
    let (time, zone) = rest.split_at(zone_at);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut time = time.splitn(3, ':').map(number);
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    let in_range = hour < 25 && minute < 60 && second < 61;

    let ms = number(&format!("{:0<3}", fraction.get(..fraction.len().min(3))?))?;
    in_range.then_some(
        ((days * 24 + hour) * 60 + minute - offset_minutes(zone)?) * 60_000 + second * 1000 + ms,
    )
}

fn number(digits: &str) -> Option<i64> {
    (digits.len() < 6 && digits.bytes().all(|digit| digit.is_ascii_digit()))
        .then(|| digits.parse().ok())?
}

fn offset_minutes(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let minutes = number(hours)? * 60 + number(minutes)?;
    Some(if zone.starts_with('-') {
        -minutes
    } else {
        minutes
    })
}

/// Days since 1970-01-01 in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years start in March, so that the leap day is the last day of a year.
    let year = if month < 3 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year
            - 719_468,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_of_rows_become_milliseconds() {
        for (iso, expected) in [
            ("1970-01-01T00:00:00.000Z", Some(0)),
            ("2026-05-01T10:00:01.250Z", Some(1_777_629_601_250)),
            ("2024-02-29T23:59:59Z", Some(1_709_251_199_000)),
            ("2026-05-01T12:00:01.2+02:00", Some(1_777_629_601_200)),
            ("1969-12-31T23:59:59.999Z", Some(-1)),
            ("2026-05-01", None),
            ("2026-13-01T00:00:00Z", None),
            ("2026-05-01T99:00:00Z", None),
            ("nonsense", None),
            ("T", None),
            ("", None),
        ] {
            assert_eq!(epoch_ms(iso), expected, "{iso}");
        }
    }
}
