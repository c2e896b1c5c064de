//! The canonical form of a document (RFC 8785), which is used only for hashing.
//!
//! One deliberate difference: a number that a double cannot hold is written with its own digits, so
//! that two documents that differ only in such a number get different hashes.

use sha2::{Digest as _, Sha256};

use crate::document::{Node, Number};
use crate::hash::Hash;
use crate::quoted;

/// Most packages fit in this buffer, so that writing them needs no reallocation.
const USUAL_BYTES: usize = 2048;

/// The hash of a document: equal for the same content in any order, spacing or number form.
pub fn hash(document: &Node) -> Hash {
    Hash(Sha256::digest(text(document)).into())
}

/// The canonical text itself.
pub fn text(document: &Node) -> String {
    let mut out = String::with_capacity(USUAL_BYTES);
    write(document, &mut out);
    out
}

fn write(node: &Node, out: &mut String) {
    match node {
        Node::Null => out.push_str("null"),
        Node::Bool(true) => out.push_str("true"),
        Node::Bool(false) => out.push_str("false"),
        Node::Number(number) => write_number(number, out),
        Node::Text(text) => quoted::write(text, out),
        Node::List(nodes) => {
            out.push('[');
            for (index, node) in nodes.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(node, out);
            }
            out.push(']');
        }
        Node::Map(members) => {
            let mut members: Vec<_> = members.iter().collect();
            // RFC 8785 sorts by UTF-16 code units, not by bytes: they differ beyond U+FFFF. Plain
            // keys, which nearly all are, sort the same by bytes, which is much faster.
            if members.iter().all(|(key, _)| key.is_ascii()) {
                members.sort_by(|(a, _), (b, _)| a.cmp(b));
            } else {
                members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            }
            out.push('{');
            for (index, (key, node)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                quoted::write(key, out);
                out.push(':');
                write(node, out);
            }
            out.push('}');
        }
    }
}

fn write_number(number: &Number, out: &mut String) {
    let written = number.as_str();
    let as_double: Option<f64> = written.parse().ok().filter(|it: &f64| it.is_finite());
    let mut buffer = ryu_js::Buffer::new();
    match as_double.map(|it| buffer.format_finite(it)) {
        Some(printed) if Decimal::of(printed) == Decimal::of(written) => out.push_str(printed),
        _ => out.push_str(written),
    }
}

/// A decimal number by value: its significant digits and the position of the point.
#[derive(PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    digits: String,
    exponent: i128,
}

impl Decimal {
    fn of(number: &str) -> Self {
        let (is_negative, number) =
            number.strip_prefix('-').map_or((false, number), |rest| (true, rest));
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        // An exponent beyond any integer cannot be that of a double; the texts are compared then.
        let exponent: i128 = exponent.parse().unwrap_or(i128::MAX / 2);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0').trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Self { is_negative: false, digits, exponent: 0 };
        }
        let n_trailing = all.len() - all.trim_end_matches('0').len();
        let exponent =
            exponent.saturating_sub(fraction.len() as i128).saturating_add(n_trailing as i128);
        Self { is_negative, digits, exponent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_number(written: &str, canonical: &str) {
        let number = Number::parse(written).unwrap();
        assert_eq!(text(&Node::Number(number)), canonical, "{written}");
    }

    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        for (written, canonical) in [
            ("1", "1"),
            ("1.0", "1"),
            ("-0", "0"),
            ("0.1", "0.1"),
            ("1e2", "100"),
            ("1E+21", "1e+21"),
            ("333333333.33333329", "333333333.3333333"),
            ("0.000001", "0.000001"),
            ("1e-7", "1e-7"),
        ] {
            // The fourth from below is RFC 8785's own example of a number that loses digits:
            // we keep them.
            let expected = if written == "333333333.33333329" { written } else { canonical };
            check_number(written, expected);
        }
    }

    #[test]
    fn a_number_that_a_double_cannot_hold_keeps_its_digits() {
        check_number("12345678901234567890", "12345678901234567890");
        check_number("9007199254740993", "9007199254740993");
        check_number("1e400", "1e400");
        check_number(
            "1e99999999999999999999999999999999999999999",
            "1e99999999999999999999999999999999999999999",
        );
    }

    #[test]
    fn keys_are_sorted_by_utf16_code_units() {
        let map = Node::map([
            ("\u{20ac}", Node::Null),
            ("\r", Node::Null),
            ("\u{fb33}", Node::Null),
            ("1", Node::Null),
            ("\u{1f600}", Node::Null),
            ("\u{80}", Node::Null),
        ]);
        assert_eq!(
            text(&map),
            "{\"\\r\":null,\"1\":null,\"\u{80}\":null,\"\u{20ac}\":null,\"\u{1f600}\":null,\"\u{fb33}\":null}"
        );
    }

    #[test]
    fn order_and_number_form_do_not_change_the_identity() {
        let number = |it| Node::Number(Number::parse(it).unwrap());
        let one = Node::map([("a", number("1.0")), ("b", Node::text("x"))]);
        let other = Node::map([("b", Node::text("x")), ("a", number("1"))]);
        assert_eq!(hash(&one), hash(&other));
        assert_ne!(hash(&one), hash(&Node::map([("a", number("1"))])));
    }
}
