//! As much of the protocol of PostgreSQL as it takes to read the statements that a client sends: prepared
//! ones with their parameters, in binary.

use std::collections::HashMap;

use anyhow::{Context as _, Result, bail, ensure};

/// A statement as it was executed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SentStatement {
    pub(crate) sql: String,
    pub(crate) params: Vec<SqlValue>,
}

/// A parameter, of the types that a store uses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SqlValue {
    Null(&'static str),
    Bool(bool),
    Integer(&'static str, i64),
    Bytes(Vec<u8>),
    Text(String),
    Uuid(uuid::Uuid),
    List(&'static str, Vec<SqlValue>),
}

/// What one client has sent so far.
#[derive(Default)]
pub(crate) struct ClientStream {
    bytes: Vec<u8>,
    has_started: bool,
    /// By name: the text, and the types of its parameters.
    prepared: HashMap<String, (String, Vec<u32>)>,
}

impl ClientStream {
    /// Takes bytes as they come; returns the statements that are complete with them.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<Vec<SentStatement>> {
        self.bytes.extend_from_slice(bytes);
        let mut executed = Vec::new();
        while let Some((kind, body)) = self.message() {
            let mut reader = FieldReader(&body);
            match kind {
                b'P' => {
                    let (name, sql) = (reader.text()?, reader.text()?);
                    let n_types = reader.short()?;
                    let types = (0..n_types).map(|_| reader.long()).collect::<Result<_>>()?;
                    self.prepared.insert(name, (sql, types));
                }
                b'B' => executed.extend(self.bind(&mut reader)?),
                _ => {}
            }
        }
        Ok(executed)
    }

    /// The next whole message; the first ones have no letter.
    fn message(&mut self) -> Option<(u8, Vec<u8>)> {
        let at = usize::from(self.has_started);
        let length = self.bytes.get(at..at + 4)?;
        let length = u32::from_be_bytes(length.try_into().ok()?) as usize;
        if self.bytes.len() < at + length {
            return None;
        }
        let message: Vec<u8> = self.bytes.drain(..at + length).collect();
        if self.has_started {
            return Some((message[0], message[5..].to_vec()));
        }
        // A request for encryption comes before the real beginning, and is as short as this.
        self.has_started = length > 8;
        Some((0, Vec::new()))
    }

    fn bind(&self, reader: &mut FieldReader<'_>) -> Result<Option<SentStatement>> {
        let (_portal, name) = (reader.text()?, reader.text()?);
        let Some((sql, types)) = self.prepared.get(&name) else { return Ok(None) };
        let n_formats = reader.short()?;
        for _ in 0..n_formats {
            ensure!(reader.short()? == 1, "a parameter is sent as text: `{sql}`");
        }
        let n_params = reader.short()?;
        ensure!(n_params == types.len(), "`{sql}` has parameters without a type");
        let params = types.iter().map(|it| value(*it, reader)).collect::<Result<_>>()?;
        Ok(Some(SentStatement { sql: sql.clone(), params }))
    }
}

struct FieldReader<'a>(&'a [u8]);

impl FieldReader<'_> {
    fn bytes(&mut self, n: usize) -> Result<Vec<u8>> {
        ensure!(self.0.len() >= n, "a message ends too early");
        let (bytes, rest) = self.0.split_at(n);
        self.0 = rest;
        Ok(bytes.to_vec())
    }

    fn text(&mut self) -> Result<String> {
        let end = self.0.iter().position(|it| *it == 0).context("a text without an end")?;
        let text = String::from_utf8(self.bytes(end)?)?;
        self.bytes(1)?;
        Ok(text)
    }

    fn short(&mut self) -> Result<usize> {
        let bytes = self.bytes(2)?;
        Ok(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    }

    fn long(&mut self) -> Result<u32> {
        let bytes = self.bytes(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

/// The next value with its length, of the type with this number.
fn value(oid: u32, reader: &mut FieldReader<'_>) -> Result<SqlValue> {
    let length = reader.long()?;
    let name = type_name(oid)?;
    if length == u32::MAX {
        return Ok(SqlValue::Null(name));
    }
    let bytes = reader.bytes(length as usize)?;
    if let Some(element) = name.strip_suffix("[]") {
        return list(name, element, &bytes);
    }
    Ok(match name {
        "boolean" => SqlValue::Bool(bytes == [1]),
        "bytea" => SqlValue::Bytes(bytes),
        "uuid" => SqlValue::Uuid(uuid::Uuid::from_slice(&bytes)?),
        "text" => SqlValue::Text(String::from_utf8(bytes)?),
        _ => {
            let is_negative = bytes.first().is_some_and(|it| *it >= 0x80);
            let start = if is_negative { -1 } else { 0 };
            let number = bytes.iter().fold(start, |number, it| number << 8 | i64::from(*it));
            SqlValue::Integer(name, number)
        }
    })
}

/// One dimension: a number of dimensions, flags, the type, a length, a lower bound, and the values.
fn list(name: &'static str, element: &str, bytes: &[u8]) -> Result<SqlValue> {
    let mut reader = FieldReader(bytes);
    let (n_dimensions, _flags, oid) = (reader.long()?, reader.long()?, reader.long()?);
    ensure!(type_name(oid)? == element, "a list of `{name}` with another type in it");
    let n_values = match n_dimensions {
        0 => 0,
        1 => {
            let n_values = reader.long()?;
            reader.long()?;
            n_values
        }
        _ => bail!("a list of lists"),
    };
    let values = (0..n_values).map(|_| value(oid, &mut reader)).collect::<Result<_>>()?;
    Ok(SqlValue::List(name, values))
}

fn type_name(oid: u32) -> Result<&'static str> {
    Ok(match oid {
        16 => "boolean",
        17 => "bytea",
        20 => "bigint",
        21 => "smallint",
        23 => "integer",
        25 => "text",
        2950 => "uuid",
        1000 => "boolean[]",
        1001 => "bytea[]",
        1005 => "smallint[]",
        1007 => "integer[]",
        1009 => "text[]",
        1016 => "bigint[]",
        2951 => "uuid[]",
        _ => bail!("a parameter of an unknown type ({oid})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = (body.len() as u32 + 4).to_be_bytes();
        [&[kind][..], &length, body].concat()
    }

    #[test]
    fn a_prepared_statement_is_read_with_its_parameters_however_it_arrives() {
        let start = [&12_u32.to_be_bytes()[..], &[0, 3, 0, 0, 1, 2, 3, 4]].concat();
        let parse = [
            &b"s1\0select $1, $2, $3\0"[..],
            &3_u16.to_be_bytes(),
            &20_u32.to_be_bytes(),
            &1009_u32.to_be_bytes(),
            &17_u32.to_be_bytes(),
        ]
        .concat();
        let texts = [
            &1_u32.to_be_bytes()[..],
            &1_u32.to_be_bytes(),
            &25_u32.to_be_bytes(),
            &2_u32.to_be_bytes(),
            &1_u32.to_be_bytes(),
            &2_u32.to_be_bytes(),
            b"ab",
            &u32::MAX.to_be_bytes(),
        ]
        .concat();
        let bind = [
            &b"\0s1\0"[..],
            &1_u16.to_be_bytes(),
            &1_u16.to_be_bytes(),
            &3_u16.to_be_bytes(),
            &8_u32.to_be_bytes(),
            &(-2_i64).to_be_bytes(),
            &(texts.len() as u32).to_be_bytes(),
            &texts,
            &u32::MAX.to_be_bytes(),
            &0_u16.to_be_bytes(),
        ]
        .concat();
        let sent = [start, message(b'P', &parse), message(b'B', &bind)].concat();
        let mut stream = ClientStream::default();
        let mut found = Vec::new();
        for byte in sent {
            found.extend(stream.take(&[byte]).unwrap());
        }
        let texts = vec![SqlValue::Text("ab".to_owned()), SqlValue::Null("text")];
        let expected = SentStatement {
            sql: "select $1, $2, $3".to_owned(),
            params: vec![
                SqlValue::Integer("bigint", -2),
                SqlValue::List("text[]", texts),
                SqlValue::Null("bytea"),
            ],
        };
        assert_eq!(found, [expected]);
    }
}
