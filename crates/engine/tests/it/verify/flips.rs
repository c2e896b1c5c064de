//! Single bits of a whole file, turned over one at a time: what is stored is the same, or Baton says
//! that it is not.

use super::file::DatabaseFile;
use super::populated;

const N_FLIPS: usize = 400;

#[tokio::test]
async fn a_bit_that_is_turned_over_changes_nothing_or_is_found() {
    let whole = populated::file().await;
    let before = DatabaseFile::of(&whole).dump().unwrap();
    let mut random = Random(20_261_116);
    let mut unseen = Vec::new();
    let mut n_found = 0;
    for _ in 0..N_FLIPS {
        let bit = random.below(whole.len() * 8);
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // Opening the file may write to it, so what is stored is read from another copy.
        if DatabaseFile::of(&bytes).verdict().await.is_found() {
            n_found += 1;
        } else if DatabaseFile::of(&bytes).dump().ok().as_ref() != Some(&before) {
            unseen.push((bit / 8, bit % 8));
        }
    }
    assert_eq!(unseen, [], "byte and bit");
    assert!(n_found > N_FLIPS / 4, "only {n_found} were found: the others must be unused bytes");
}

/// A linear congruential generator: the same bits each time, on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}
