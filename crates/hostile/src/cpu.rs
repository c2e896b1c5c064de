//! How the time of some work grows with the size of what it works on: the processor's own time of
//! this thread, so that a busy machine does not count.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The largest `n`; the work is done on up to eight times as much.
const MOST_BYTES: usize = 64 * 1024;
const LEAST_BYTES: usize = 4 * 1024;

/// Once the larger size takes this long, larger ones would not tell more.
const ENOUGH: Duration = Duration::from_millis(4);

/// Less than this is noise, whatever the ratio.
const NOISE: Duration = Duration::from_micros(300);

/// What twice the size may cost: 2 is linear, 4 is quadratic.
const MOST_RATIO: f64 = 3.0;

/// Below this, a larger size would not tell more.
const PLAINLY_LINEAR: f64 = 2.25;

/// The best of so many counts.
const TRIES: u32 = 5;

/// The time for four and for eight times as many bytes.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    pub n_bytes: usize,
    pub four: Duration,
    pub eight: Duration,
}

impl Growth {
    pub fn ratio(&self) -> f64 {
        (self.eight + NOISE).as_secs_f64() / (self.four + NOISE).as_secs_f64()
    }

    pub fn is_linear(&self) -> bool {
        self.ratio() < MOST_RATIO
    }
}

/// Measures `work` on larger and larger texts until it takes long enough to be judged, or grows
/// too fast.
pub fn growth<T, R>(make: impl Fn(usize) -> T, mut work: impl FnMut(&T) -> R) -> Growth {
    let mut n_bytes = LEAST_BYTES;
    loop {
        let (four, eight) = (make(4 * n_bytes), make(8 * n_bytes));
        let mut best = Growth { n_bytes, four: Duration::MAX, eight: Duration::MAX };
        for n_tries in 1.. {
            best.four = best.four.min(time(|| work(&four)));
            best.eight = best.eight.min(time(|| work(&eight)));
            // What is plainly linear needs no second look, and a judgement that fails a test several.
            if best.ratio() < PLAINLY_LINEAR || n_tries >= TRIES {
                break;
            }
        }
        let is_sure = best.ratio() < PLAINLY_LINEAR && best.eight >= ENOUGH;
        if !best.is_linear() || is_sure || n_bytes >= MOST_BYTES {
            return best;
        }
        n_bytes *= 4;
    }
}

/// What grows faster than its input, each as a sentence.
#[derive(Debug, Default)]
pub struct Steep(Vec<String>);

/// How often a steep growth has to be seen.
const MOST_MEASUREMENTS: usize = 4;

impl Steep {
    /// Measures `work`, and notes it where twice the size costs three times as much, or more. What
    /// is steep is measured again: a neighbour that takes the cache makes one measurement steep,
    /// and not each of them.
    pub fn look<T, R>(
        &mut self,
        name: &str,
        make: impl Fn(usize) -> T,
        mut work: impl FnMut(&T) -> R,
    ) {
        let mut last = growth(&make, &mut work);
        for _ in 1..MOST_MEASUREMENTS {
            if last.is_linear() {
                return;
            }
            last = growth(&make, &mut work);
        }
        if last.is_linear() {
            return;
        }
        let growth = last;
        let Growth { n_bytes, four, eight } = growth;
        self.0.push(format!(
            "{name}: {four:?} for {} bytes and {eight:?} for twice as many: {:.1} times as long",
            4 * n_bytes,
            growth.ratio()
        ));
    }

    #[track_caller]
    pub fn assert_none(self) {
        assert!(self.0.is_empty(), "not linear:\n{}", self.0.join("\n"));
    }
}

fn time<R>(work: impl FnOnce() -> R) -> Duration {
    let began = now();
    black_box(work());
    now().saturating_sub(began)
}

/// The time that this thread has had of a processor.
fn now() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quadratic_is_found_and_what_is_linear_is_not() {
        let text = |n: usize| "ab".repeat(n / 2);
        let linear = |it: &String| it.bytes().filter(|it| *it == b'b').count();
        assert!(growth(text, linear).is_linear());
        let quadratic = |it: &String| {
            let find = |at: usize| it.as_bytes()[at..].iter().filter(|it| **it == b'z').count();
            (0..it.len()).step_by(64).map(find).sum::<usize>()
        };
        assert!(!growth(text, quadratic).is_linear());
    }
}
