//! Whether history costs anything: the same callers on an empty store and on one with a long past.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use baton_engine::{Caller, Engine};
use baton_store::{HandoffFilter, RunRef};

use crate::bench::{Measured, measure, milliseconds};
use crate::crew::{self, Go, HANDOFFS_PER_STORY, Hand, Keys, PER_STORY};

const N_CALLERS: usize = 64;

pub(crate) async fn run(dir: &Path, n_handoffs: u64, lasting: Duration) -> Result<()> {
    let engine = crew::engine_over(crew::sqlite(dir)?).await?;
    println!("\n| stored handoffs | engine/s at {N_CALLERS} callers | p99 ms | state query µs |");
    println!("|---|---|---|---|");
    let before = measure(&engine, N_CALLERS, lasting, "before").await?;
    report(&engine, "few", &before).await?;
    fill(&engine, n_handoffs).await?;
    let after = measure(&engine, N_CALLERS, lasting, "after").await?;
    report(&engine, &format!("{n_handoffs} and more"), &after).await?;
    println!("\nwith history ÷ without: {:.2}", after.per_second / before.per_second);
    engine.shutdown().await;
    Ok(())
}

async fn report(engine: &Engine, stored: &str, measured: &Measured) -> Result<()> {
    let query = state_query(engine).await?;
    println!(
        "| {stored} | {:.0} | {:.2} | {:.0} |",
        measured.per_second,
        milliseconds(measured.p99),
        query.as_secs_f64() * 1e6
    );
    Ok(())
}

/// How long it takes to ask where a run stands and what its handoffs are.
async fn state_query(engine: &Engine) -> Result<Duration> {
    const N: u32 = 500;
    let caller = Caller::of_baton("baton:load");
    let reader = engine.read_as(&caller);
    let began = Instant::now();
    for _ in 0..N {
        let run = reader.run(&RunRef::Number(7)).await?;
        let filter = HandoffFilter { run: Some(run.run.id), ..HandoffFilter::default() };
        reader.handoffs(&filter).await?;
    }
    Ok(began.elapsed() / N)
}

/// Stores handoffs the usual way: through the engine.
async fn fill(engine: &Arc<Engine>, n_handoffs: u64) -> Result<()> {
    let stored = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    for n in 0..N_CALLERS {
        let mut hand = Hand::new(engine.clone(), format!("fill-{n}"), Keys::None)?;
        let stored = stored.clone();
        tasks.push(tokio::spawn(async move {
            let per_story = HANDOFFS_PER_STORY as u64;
            while stored.fetch_add(per_story, Ordering::Relaxed) < n_handoffs {
                let mut n_commands = 0;
                hand.tell_story(|_| {
                    n_commands += 1;
                    Go::On
                })
                .await?;
                anyhow::ensure!(n_commands == PER_STORY, "a story took {n_commands} commands");
            }
            Ok(())
        }));
    }
    for task in tasks {
        task.await??;
    }
    Ok(())
}
