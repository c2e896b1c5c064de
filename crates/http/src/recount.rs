//! Counts over everything, which take long in a large store: taken again at most so often that they
//! use a small part of the time. In a store of the usual size they are always taken afresh.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

/// What takes no longer is counted every time.
const FAST: Duration = Duration::from_millis(20);
/// What takes longer may be so many times as old as it takes.
const TIMES: u32 = 10;

pub(crate) struct Recount<T> {
    newest: Mutex<Option<CachedCount<T>>>,
}

struct CachedCount<T> {
    value: T,
    at: Instant,
    took: Duration,
}

impl<T> Default for Recount<T> {
    fn default() -> Self {
        Self { newest: Mutex::new(None) }
    }
}

impl<T: Clone> Recount<T> {
    /// The count that is new enough, or a new one. Whoever asks meanwhile waits for the same.
    pub(crate) async fn take<E>(&self, count: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let mut newest = self.newest.lock().await;
        if let Some(known) = newest.as_ref()
            && is_new_enough(known.took, known.at.elapsed())
        {
            return Ok(known.value.clone());
        }
        let began = Instant::now();
        let value = count.await?;
        let counted =
            CachedCount { value: value.clone(), at: Instant::now(), took: began.elapsed() };
        *newest = Some(counted);
        Ok(value)
    }
}

fn is_new_enough(took: Duration, age: Duration) -> bool {
    took > FAST && age < took * TIMES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_takes_long_is_kept_and_not_for_long() {
        let ms = Duration::from_millis;
        for (took, age, expected) in
            [(20, 0, false), (21, 0, true), (21, 209, true), (21, 210, false), (2000, 19_999, true)]
        {
            assert_eq!(is_new_enough(ms(took), ms(age)), expected, "{took} {age}");
        }
    }
}
