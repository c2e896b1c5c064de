//! The cells of a leaf page, and their overflow pages.

use super::record::varint;

/// Longer than any row that Baton writes. A greater length is damage, not a row.
const MOST_BYTES: u64 = 64 << 20;

/// The first page of a database begins with the file header.
pub(crate) const FILE_HEADER: usize = 100;

const TABLE_LEAF: u8 = 0x0d;
const INDEX_LEAF: u8 = 0x0a;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaf {
    Table,
    Index,
}

/// A cell as it is on its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell<'a> {
    /// For table cells only.
    pub(crate) rowid: Option<i64>,
    pub(crate) length: usize,
    /// The part of the payload that is on this page.
    pub(crate) local: &'a [u8],
    /// The first overflow page.
    pub(crate) overflow: Option<u32>,
}

impl Cell<'_> {
    pub(crate) fn is_local(&self) -> bool {
        self.overflow.is_none()
    }

    /// The whole payload. `page` returns a page by its number.
    pub(crate) fn payload(&self, mut page: impl FnMut(u32) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
        let mut payload = self.local.to_vec();
        let mut next = self.overflow;
        // Each page adds at least a byte, so a circular chain ends too.
        while payload.len() < self.length {
            let bytes = page(next?)?;
            let (head, rest) = bytes.split_first_chunk::<4>()?;
            let wanted = (self.length - payload.len()).min(rest.len());
            if wanted == 0 {
                return None;
            }
            payload.extend_from_slice(rest.get(..wanted)?);
            next = Some(u32::from_be_bytes(*head)).filter(|it| *it > 0);
        }
        Some(payload)
    }
}

/// The kind of leaf page, if it is one.
pub(crate) fn leaf(page: &[u8], number: u32) -> Option<Leaf> {
    match *page.get(start(number))? {
        TABLE_LEAF => Some(Leaf::Table),
        INDEX_LEAF => Some(Leaf::Index),
        _ => None,
    }
}

/// The valid cells of a leaf page, in order. `page` has only its usable bytes.
pub(crate) fn cells(page: &[u8], number: u32) -> Vec<Cell<'_>> {
    let (Some(leaf), Some(header)) = (leaf(page, number), page.get(start(number)..)) else {
        return Vec::new();
    };
    let n_cells = match header.get(3..5) {
        Some(&[high, low]) => usize::from(u16::from_be_bytes([high, low])),
        Some(_) | None => return Vec::new(),
    };
    let pointers = header.get(8..).unwrap_or_default().chunks_exact(2).take(n_cells);
    let offsets = pointers.filter_map(|it| Some(u16::from_be_bytes(it.try_into().ok()?)));
    offsets.filter_map(|offset| cell(page, leaf, usize::from(offset))).collect()
}

fn start(number: u32) -> usize {
    if number == 1 { FILE_HEADER } else { 0 }
}

fn cell(page: &[u8], leaf: Leaf, offset: usize) -> Option<Cell<'_>> {
    let (length, mut at) = varint(page.get(offset..)?)?;
    at += offset;
    let rowid = match leaf {
        Leaf::Table => {
            let (rowid, length) = varint(page.get(at..)?)?;
            at += length;
            Some(rowid.cast_signed())
        }
        Leaf::Index => None,
    };
    if length > MOST_BYTES {
        return None;
    }
    let length = usize::try_from(length).ok()?;
    let n_local = local(length, page.len(), leaf)?;
    let local = page.get(at..at.checked_add(n_local)?)?;
    let overflow = if n_local < length {
        let bytes = page.get(at + n_local..at + n_local + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    } else {
        None
    };
    Some(Cell { rowid, length, local, overflow })
}

/// How many payload bytes stay on the page: SQLite's own rule.
fn local(length: usize, usable: usize, leaf: Leaf) -> Option<usize> {
    let most = match leaf {
        Leaf::Table => usable.checked_sub(35)?,
        Leaf::Index => (usable.checked_sub(12)? * 64 / 255).checked_sub(23)?,
    };
    if length <= most {
        return Some(length);
    }
    let least = (usable.checked_sub(12)? * 32 / 255).checked_sub(23)?;
    let fitting = least + (length.checked_sub(least)?) % usable.checked_sub(4)?;
    Some(if fitting <= most { fitting } else { least })
}
