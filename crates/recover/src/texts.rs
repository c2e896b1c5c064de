//! The texts that events name. The hash of a text proves its contents, and the event says whether
//! it is a package; only the format of a package is left to find.

use baton_core::content::{Content, ContentId, ContentKind};
use baton_core::event::TextRole;
use baton_core::hash::Hash;
use baton_core::package::{Format, Package};
use baton_store::StoreError;
use baton_store_sqlite::{PackageClaim, SalvageDatabase};
use baton_wire::formats;

/// `None` where it was not found, or is a package that may be read in two ways.
pub(crate) fn proven_text(
    salvaged: &SalvageDatabase,
    id: ContentId,
    named_as: TextRole,
) -> Result<Option<Content>, StoreError> {
    let Some(found) = salvaged.text(id)? else { return Ok(None) };
    let kind = match named_as {
        TextRole::Words => Some(ContentKind::Words),
        TextRole::Package => package_kind(&found.text, &salvaged.package_claims(id)?),
    };
    Ok(kind.map(|kind| Content { id, nonce: found.nonce, kind, text: found.text }))
}

/// The format of a package and the hash that follows from it.
fn package_kind(text: &str, claims: &[PackageClaim]) -> Option<ContentKind> {
    let kind = |format, hash| Some(ContentKind::Package { format, hash });
    let stated = |it: &PackageClaim| std::str::from_utf8(&it.format).ok().and_then(Format::parse);
    // Nearly always both columns are intact.
    for claim in claims {
        if let Some(format) = stated(claim)
            && let Some(hash) = hash_as(format, text)
            && claim.hash == Some(hash)
        {
            return kind(format, hash);
        }
    }
    let readings: Vec<(Format, Hash)> = Format::ALL
        .into_iter()
        .filter_map(|format| Some((format, hash_as(format, text)?)))
        .collect();
    // The hash says what was read from it, and so in which format.
    for claim in claims {
        let same = readings.iter().filter(|(_, hash)| Some(*hash) == claim.hash);
        if let Some((format, hash)) = same.min_by_key(|(it, _)| n_bits_apart(it.name(), claim)) {
            return kind(*format, *hash);
        }
    }
    let mut by_name = claims
        .iter()
        .filter_map(|it| readings.iter().find(|(format, _)| stated(it) == Some(*format)));
    if let Some((format, hash)) = by_name.next() {
        return by_name.all(|(other, _)| other == format).then(|| kind(*format, *hash)).flatten();
    }
    // Any text is valid Markdown, so that is no evidence.
    let mut others = readings.iter().filter(|(format, _)| *format != Format::Markdown);
    let (format, hash) = others.next().or_else(|| readings.first())?;
    others.all(|(_, other)| other == hash).then(|| kind(*format, *hash)).flatten()
}

fn hash_as(format: Format, text: &str) -> Option<Hash> {
    let document = formats::decode(format, text).ok()?;
    Some(Package::new(format, text, document).hash())
}

/// JSON is YAML too, and both read the same: the column decides, even with a flipped bit or two.
fn n_bits_apart(name: &str, claim: &PackageClaim) -> u32 {
    if name.len() != claim.format.len() {
        return u32::MAX;
    }
    name.bytes().zip(&claim.format).map(|(one, other)| (one ^ other).count_ones()).sum()
}
