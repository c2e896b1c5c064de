//! Keeps processors busy, and does nothing else: what a harmful client is compared with.
#![expect(clippy::disallowed_methods, reason = "a burner of less than a core rests in between")]

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(super) struct Burner {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

const SLICE: Duration = Duration::from_millis(10);

impl Burner {
    /// Uses so many cores, the last one in part.
    pub(super) fn start(n_cores: f64) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let n_threads = n_cores.ceil().max(1.0) as usize;
        let share = (n_cores / n_threads as f64).clamp(0.0, 1.0);
        let burn = |_| {
            let is_over = is_over.clone();
            std::thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    while began.elapsed() < SLICE.mul_f64(share) {
                        black_box((0..1000_u64).sum::<u64>());
                    }
                    std::thread::sleep(SLICE.mul_f64(1.0 - share));
                }
            })
        };
        let threads = (0..n_threads).map(burn).collect();
        Self { is_over, threads }
    }

    pub(super) fn stop(self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            // It cannot fail: it only counts.
            let _ = thread.join();
        }
    }
}
