//! SQLite's record format, read without SQLite: a damaged page may still hold many valid rows.
//!
//! No length or offset is trusted: every read is checked, and anything invalid is `None`. Whether a
//! row is true is proven later, by hashes.

/// More columns than any of our tables has.
const MOST_COLUMNS: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RecordField {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    /// A text that is no longer valid UTF-8.
    BrokenText(Vec<u8>),
    Blob(Vec<u8>),
}

/// A variable-length integer, and how many bytes it took.
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value: u64 = 0;
    for (index, byte) in bytes.iter().take(9).enumerate() {
        if index == 8 {
            return Some((value << 8 | u64::from(*byte), 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    None
}

/// All fields of a record; `None` where one does not fit or has an invalid type.
pub(crate) fn record(payload: &[u8]) -> Option<Vec<RecordField>> {
    let fields = first_fields(payload, MOST_COLUMNS)?;
    (fields.len() == serial_types(payload)?.len()).then_some(fields)
}

/// The first fields of a record, at most `most`, as far as they are valid: the end of a long record
/// may be lost.
pub(crate) fn first_fields(payload: &[u8], most: usize) -> Option<Vec<RecordField>> {
    let (header, _) = varint(payload)?;
    let mut at = usize::try_from(header).ok()?;
    let mut fields = Vec::new();
    for serial in serial_types(payload)?.into_iter().take(most) {
        let Some((field, length)) = payload.get(at..).and_then(|rest| field(serial, rest)) else {
            break;
        };
        fields.push(field);
        at += length;
    }
    Some(fields)
}

fn serial_types(payload: &[u8]) -> Option<Vec<u64>> {
    let (header, length) = varint(payload)?;
    let mut rest = payload.get(length..usize::try_from(header).ok()?)?;
    let mut types = Vec::new();
    while !rest.is_empty() {
        if types.len() == MOST_COLUMNS {
            return None;
        }
        let (serial, length) = varint(rest)?;
        types.push(serial);
        rest = rest.get(length..)?;
    }
    Some(types)
}

fn field(serial: u64, bytes: &[u8]) -> Option<(RecordField, usize)> {
    let integer = |length: usize| {
        let bytes = bytes.get(..length)?;
        let is_negative = bytes.first().is_some_and(|it| it & 0x80 != 0);
        let start = if is_negative { -1 } else { 0 };
        let value = bytes.iter().fold(start, |value: i64, it| value << 8 | i64::from(*it));
        Some((RecordField::Integer(value), length))
    };
    match serial {
        0 => Some((RecordField::Null, 0)),
        1..=4 => integer(usize::try_from(serial).ok()?),
        5 => integer(6),
        6 => integer(8),
        7 => {
            let bytes: [u8; 8] = bytes.get(..8)?.try_into().ok()?;
            Some((RecordField::Real(f64::from_be_bytes(bytes)), 8))
        }
        8 => Some((RecordField::Integer(0), 0)),
        9 => Some((RecordField::Integer(1), 0)),
        // Reserved by SQLite.
        10 | 11 => None,
        12.. => {
            let length = usize::try_from((serial - 12) / 2).ok()?;
            let bytes = bytes.get(..length)?.to_vec();
            if serial.is_multiple_of(2) {
                return Some((RecordField::Blob(bytes), length));
            }
            let text = String::from_utf8(bytes);
            let text =
                text.map_or_else(|it| RecordField::BrokenText(it.into_bytes()), RecordField::Text);
            Some((text, length))
        }
    }
}

impl RecordField {
    pub(crate) fn integer(&self) -> Option<i64> {
        if let Self::Integer(value) = self { Some(*value) } else { None }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// A text, damaged or not.
    pub(crate) fn text_bytes(&self) -> Option<&[u8]> {
        if let Self::BrokenText(bytes) = self {
            Some(bytes)
        } else {
            self.text().map(str::as_bytes)
        }
    }

    /// A blob of exactly this many bytes.
    pub(crate) fn bytes<const N: usize>(&self) -> Option<[u8; N]> {
        if let Self::Blob(bytes) = self { bytes.as_slice().try_into().ok() } else { None }
    }

    pub(crate) fn is_null(&self) -> bool {
        *self == RecordField::Null
    }
}
