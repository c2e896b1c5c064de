//! Rate limits in the words of programs and providers: whether a message tells of one, and when it ends.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};

/// A time is read as the one to come if it is at most so long ago: it was rounded, or took a while to be read.
const ROUNDED: SignedDuration = SignedDuration::from_mins(5);
const SOON: SignedDuration = SignedDuration::from_mins(1);
/// No provider's limit lasts longer, and no offer is held back for longer: a time beyond it was misread or made up.
const MOST: SignedDuration = SignedDuration::from_hours(8 * 24);

/// The end of a limit as far as it is believed.
pub(crate) fn believed(until: Timestamp, now: Timestamp) -> Timestamp {
    now.checked_add(MOST).map_or(until, |most| until.min(most))
}

/// Words by which a provider's refusal for too many requests is known, in what a program calls an error.
pub(crate) fn is_rate_limit(message: &str) -> bool {
    const SIGNS: [&str; 11] = [
        "usage limit",
        "rate limit",
        "rate_limit",
        "ratelimit",
        "too many requests",
        "quota",
        "(429)",
        "limit reached",
        "hit your limit",
        "error 429",
        "status 429",
    ];
    let message = message.to_ascii_lowercase();
    SIGNS.iter().any(|it| message.contains(it))
}

/// Whether a line that is no message of the program's own form tells of one: it may be about anything.
pub(crate) fn is_rate_limit_line(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let is_code = line.split(|it: char| !it.is_ascii_alphanumeric()).any(|it| it == "429");
    let signs = ["rate_limit_error", "usage limit reached", "resource_exhausted"];
    let is_error = line.contains("error") || line.contains("too many requests");
    (is_code && (is_error || is_rate_limit(&line))) || signs.iter().any(|it| line.contains(it))
}

/// When the limit ends, as the message has it. A time without a zone is in that of the machine.
pub(crate) fn reset_time(message: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let message = message.to_ascii_lowercase();
    let found = epoch(&message)
        .or_else(|| {
            after_words(
                &message,
                &["try again at ", "resets at ", "resets ", "reset at "],
                |rest| point(rest, now, zone),
            )
        })
        .or_else(|| {
            let words = [
                "try again in ",
                "retry in ",
                "resets in ",
                "retry after ",
                "retry-after: ",
                "retry-after ",
            ];
            after_words(&message, &words, |rest| now.checked_add(length(rest)?).ok())
        });
    found.filter(|it| *it > now).map(|it| believed(it, now))
}

fn after_words(
    message: &str,
    words: &[&str],
    read: impl Fn(&str) -> Option<Timestamp>,
) -> Option<Timestamp> {
    let rests = words.iter().filter_map(|it| message.split_once(it).map(|(_, rest)| rest));
    rests.filter_map(|it| read(it.trim_start())).next()
}

/// `Claude AI usage limit reached|1763442000`.
fn epoch(message: &str) -> Option<Timestamp> {
    let (_, rest) = message.split_once('|')?;
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    let number: i64 = digits.parse().ok()?;
    match digits.len() {
        10 => Timestamp::from_second(number).ok(),
        13 => Timestamp::from_millisecond(number).ok(),
        _ => None,
    }
}

/// `3.5s`, `57 seconds`, `1h2m3s`, `4 days 3 hours 9 minutes`.
fn length(text: &str) -> Option<SignedDuration> {
    let mut millis: i64 = 0;
    let mut rest = text;
    let mut is_any = false;
    loop {
        rest = rest.trim_start_matches([' ', ',']).trim_start();
        rest = rest.strip_prefix("and ").unwrap_or(rest);
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let Some(amount) = thousandths(number) else { break };
        let after = after.trim_start();
        let end = after.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let seconds = match unit {
            "ms" | "millisecond" | "milliseconds" => {
                millis = millis.checked_add(amount / 1000)?;
                is_any = true;
                rest = after;
                continue;
            }
            "s" | "sec" | "secs" | "second" | "seconds" => 1,
            "m" | "min" | "mins" | "minute" | "minutes" => 60,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
            "d" | "day" | "days" => 86_400,
            "" if !is_any => 1,
            _ => break,
        };
        millis = millis.checked_add(amount.checked_mul(seconds)?)?;
        is_any = true;
        rest = after;
    }
    is_any.then(|| SignedDuration::from_millis(millis))
}

/// A number with decimal places, as thousandths.
fn thousandths(number: &str) -> Option<i64> {
    let number = number.trim_end_matches('.');
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let whole: i64 = whole.parse().ok()?;
    let part: String = part.chars().chain("000".chars()).take(3).collect();
    whole.checked_mul(1000)?.checked_add(part.parse().ok()?)
}

/// `3pm`, `6:30am (UTC)`, `nov 18th, 2026 11:06 am`, `nov 20, 3pm (america/new_york)`.
fn point(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let zone = named_zone(text).unwrap_or_else(|| zone.clone());
    let text = text.split(['(', '\n']).next()?.trim().trim_end_matches('.');
    if let Ok(exact) = text.to_ascii_uppercase().parse::<Timestamp>() {
        return Some(exact);
    }
    let today = now.to_zoned(zone.clone()).date();
    let words: Vec<&str> = text.split([' ', ',']).filter(|it| !it.is_empty()).collect();
    let (date, words) = match day(&words, today) {
        Some((date, n)) => (Some(date), &words[n..]),
        None => (None, &words[..]),
    };
    let words = words.strip_prefix(&["at"]).unwrap_or(words);
    let time = clock(words)?;
    let at =
        |date: Date| date.to_datetime(time).to_zoned(zone.clone()).ok().map(|it| it.timestamp());
    let found = at(date.unwrap_or(today))?;
    if found > now {
        return Some(found);
    }
    // Programs leave the seconds out: in the minute of the end it is still to come.
    if now.duration_since(found) < ROUNDED {
        return Some(now + SOON);
    }
    // Else a time of day is the next one.
    if date.is_some() { Some(found) } else { at(today.checked_add(1.day()).ok()?) }
}

fn named_zone(text: &str) -> Option<TimeZone> {
    let (_, rest) = text.split_once('(')?;
    let (name, _) = rest.split_once(')')?;
    if name.eq_ignore_ascii_case("utc") || name.eq_ignore_ascii_case("gmt") {
        return Some(TimeZone::UTC);
    }
    TimeZone::get(name.trim()).ok()
}

/// `nov 18th 2026` or `nov 20`, and how many words it is.
fn day(words: &[&str], today: Date) -> Option<(Date, usize)> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let month =
        MONTHS.iter().position(|it| words.first().is_some_and(|word| word.starts_with(it)))?;
    let month = i8::try_from(month + 1).ok()?;
    let day = words.get(1)?.trim_end_matches(|it: char| it.is_ascii_alphabetic()).parse().ok()?;
    let year = words.get(2).filter(|it| it.len() == 4).and_then(|it| it.parse::<i16>().ok());
    if let Some(year) = year {
        return Some((Date::new(year, month, day).ok()?, 3));
    }
    let date = Date::new(today.year(), month, day).ok()?;
    // In December a day of January is the next year's.
    let date = if date < today { Date::new(today.year() + 1, month, day).ok()? } else { date };
    Some((date, 2))
}

/// `3pm`, `6:30am`, `11:06 am`, `15:30`.
fn clock(words: &[&str]) -> Option<Time> {
    let first = *words.first()?;
    let (digits, half) = match first.find(|it: char| it.is_ascii_alphabetic()) {
        Some(at) => first.split_at(at),
        None => (first, words.get(1).copied().unwrap_or_default()),
    };
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match (half.get(..2).unwrap_or_default(), hour) {
        ("am", 12) => 0,
        ("pm", 1..12) => hour + 12,
        ("am" | "pm", _) => hour,
        _ if digits.contains(':') => hour,
        _ => return None,
    };
    Time::new(hour, minute, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_limit_is_read_from_what_programs_say() {
        let now: Timestamp = "2026-11-18T14:00:00Z".parse().unwrap();
        for (message, expected) in [
            ("5-hour limit reached ∙ resets 3pm", Some("2026-11-18T15:00:00Z")),
            ("You've hit your limit · resets 6:30am (UTC)", Some("2026-11-19T06:30:00Z")),
            (
                "Weekly limit reached ∙ resets Nov 20, 3pm (America/New_York)",
                Some("2026-11-20T20:00:00Z"),
            ),
            ("Claude AI usage limit reached|1795014000", Some("2026-11-18T15:00:00Z")),
            ("Claude AI usage limit reached|1600000000", None),
            ("Please try again in 3.5s.", Some("2026-11-18T14:00:03.5Z")),
            ("Try again in 4 days 3 hours 9 minutes.", Some("2026-11-22T17:09:00Z")),
            ("You've hit your usage limit. Try again in 1h2m3s", Some("2026-11-18T15:02:03Z")),
            ("Try again at Nov 18th, 2026 3:06 PM.", Some("2026-11-18T15:06:00Z")),
            ("try again at Nov 17th, 2026 3:06 PM.", None),
            // Rounded to the minute: it is still to come.
            ("try again at 2:00 PM.", Some("2026-11-18T14:01:00Z")),
            ("try again at 1:58 PM.", Some("2026-11-18T14:01:00Z")),
            ("Try again at Nov 18th, 2026 1:59 PM.", Some("2026-11-18T14:01:00Z")),
            ("try again at 1:50 PM.", Some("2026-11-19T13:50:00Z")),
            ("Quota exceeded. Please retry in 57.25s.", Some("2026-11-18T14:00:57.25Z")),
            ("retry-after: 30", Some("2026-11-18T14:00:30Z")),
            ("resets at 2026-11-18T16:00:00Z", Some("2026-11-18T16:00:00Z")),
            ("Claude AI usage limit reached|9999999999", Some("2026-11-26T14:00:00Z")),
            ("Try again in 4000 days", Some("2026-11-26T14:00:00Z")),
            ("resets at 2286-11-20T17:46:39Z", Some("2026-11-26T14:00:00Z")),
            ("the connection was reset", None),
            ("try again later", None),
        ] {
            let found = reset_time(message, now, &TimeZone::UTC).map(|it| it.to_string());
            assert_eq!(found.as_deref(), expected, "{message}");
        }
    }

    #[test]
    fn a_limit_is_known_by_the_words_of_each_program() {
        for message in [
            "5-hour limit reached ∙ resets 3pm",
            "You've hit your limit · resets 6:30am (UTC)",
            "Claude AI usage limit reached|1795014000",
            "You've hit your usage limit.",
            "API Error: Request rejected (429)",
            "Rate limit reached for gpt-5",
        ] {
            assert!(is_rate_limit(message), "{message}");
        }
        for (line, is_limit) in [
            ("API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}", true),
            ("unexpected status 429 Too Many Requests", true),
            ("error: RESOURCE_EXHAUSTED", true),
            ("test 429 of 500 passed", false),
            ("I added a rate limit to the API", false),
        ] {
            assert_eq!(is_rate_limit_line(line), is_limit, "{line}");
        }
    }
}
