//! What a disk, a copy or a person may do to a file.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::Result;

use super::FILES;
use crate::crash::Random;

/// What is done to one or both of the files.
#[derive(Debug, Clone)]
pub(super) struct FileDamage(Vec<(&'static str, DamageKind)>);

#[derive(Debug, Clone, Copy)]
enum DamageKind {
    /// One bit.
    Flip {
        at: u64,
        bit: u32,
    },
    Cut {
        to: u64,
    },
    Zero {
        from: u64,
        n_bytes: u64,
    },
    /// Two blocks in each other's place.
    Swap {
        one: u64,
        other: u64,
        n_bytes: u64,
    },
    Delete,
}

impl FileDamage {
    pub(super) fn random(dir: &Path, random: &mut Random) -> Result<Self> {
        let files: Vec<&'static str> = match random.below(5) {
            0 | 1 => vec![FILES[0]],
            2 | 3 => vec![FILES[1]],
            _ => FILES.to_vec(),
        };
        let mut parts = Vec::new();
        for file in files {
            let n_bytes = fs::metadata(dir.join(file)).map_or(0, |it| it.len());
            if n_bytes > 0 {
                parts.push((file, DamageKind::random(n_bytes, random)));
            }
        }
        Ok(Self(parts))
    }

    pub(super) fn apply(&self, dir: &Path) -> Result<()> {
        for (file, kind) in &self.0 {
            let path = dir.join(file);
            match kind {
                DamageKind::Delete => fs::remove_file(&path)?,
                DamageKind::Flip { .. }
                | DamageKind::Cut { .. }
                | DamageKind::Zero { .. }
                | DamageKind::Swap { .. } => {
                    let mut bytes = fs::read(&path)?;
                    kind.change(&mut bytes)?;
                    fs::write(&path, bytes)?;
                }
            }
        }
        Ok(())
    }
}

impl DamageKind {
    fn random(n_bytes: u64, random: &mut Random) -> Self {
        let block = [512, 4096, 8192][usize::try_from(random.below(3)).unwrap_or(0)];
        let mut place = || random.below(n_bytes.div_ceil(block)) * block;
        let (one, other) = (place(), place());
        match random.below(9) {
            0..=3 => Self::Flip { at: random.below(n_bytes), bit: random.below(8) as u32 },
            4 | 5 => Self::Cut { to: random.below(n_bytes) },
            6 => Self::Zero { from: one, n_bytes: block },
            7 => Self::Swap { one, other, n_bytes: block },
            _ => Self::Delete,
        }
    }

    fn change(self, bytes: &mut Vec<u8>) -> Result<()> {
        let length = bytes.len();
        let end = |from: usize, n: u64| (from + usize::try_from(n).unwrap_or(0)).min(length);
        match self {
            Self::Flip { at, bit } => bytes[usize::try_from(at)?] ^= 1 << bit,
            Self::Cut { to } => bytes.truncate(usize::try_from(to)?),
            Self::Zero { from, n_bytes } => {
                let from = usize::try_from(from)?;
                bytes[from..end(from, n_bytes)].fill(0);
            }
            Self::Swap { one, other, n_bytes } => {
                let (one, other) = (usize::try_from(one)?, usize::try_from(other)?);
                let n = (end(one, n_bytes) - one).min(end(other, n_bytes) - other);
                for at in 0..n {
                    bytes.swap(one + at, other + at);
                }
            }
            Self::Delete => {}
        }
        Ok(())
    }
}

impl fmt::Display for FileDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (file, kind)) in self.0.iter().enumerate() {
            let comma = if n > 0 { ", " } else { "" };
            write!(f, "{comma}{file}: {kind:?}")?;
        }
        if self.0.is_empty() { f.write_str("nothing") } else { Ok(()) }
    }
}
