//! Counts over the whole store, which are slow in a large one: repeated only so often that they use
//! a small part of the time. In a store of the usual size they are always fresh.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

/// A count that takes no longer than this is never cached.
const FAST: Duration = Duration::from_millis(20);
/// A slower count may be as old as this many times its duration.
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
    /// The cached count if it is new enough, or a new one. Concurrent callers wait for the same
    /// count.
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
