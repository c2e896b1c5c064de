//! How handing off has fared in the last seven days, by agent, as Prometheus reads it. The names are
//! in `docs/how-to/insights.md`.

use std::fmt::Write as _;

use baton_views::{InsightGroup, Insights, Percentiles};

/// Further agents have no series: an agent's id may be anything that a sender has written.
const MOST_AGENTS: usize = 100;

pub(super) fn write(insights: &Insights, text: &mut String) {
    let agents = || insights.agents.iter().take(MOST_AGENTS);
    let mut gauge = |name: &str, help: &str, lines: Vec<String>| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for line in lines {
            let _ = writeln!(text, "{name}{line}");
        }
    };
    let counted = |count: fn(&InsightGroup) -> u64| {
        agents().map(|(id, it)| format!("{{agent=\"{id}\"}} {}", count(it))).collect()
    };
    let spans = |of: fn(&InsightGroup) -> Percentiles| {
        agents()
            .flat_map(|(id, it)| {
                let Percentiles { p50_ms, p95_ms } = of(it);
                let line = move |quantile: &str, ms: u64| {
                    let seconds = ms as f64 / 1000.0;
                    format!("{{agent=\"{id}\",quantile=\"{quantile}\"}} {seconds}")
                };
                [p50_ms.map(|ms| line("0.5", ms)), p95_ms.map(|ms| line("0.95", ms))]
            })
            .flatten()
            .collect()
    };
    gauge(
        "baton_handoffs_received",
        "Handoffs of 7 days, by receiver.",
        counted(|it| it.n_handoffs),
    );
    gauge("baton_handoff_accept_seconds", "From offer to acceptance.", spans(|it| it.to_accept));
    gauge(
        "baton_handoff_complete_seconds",
        "From acceptance to completion.",
        spans(|it| it.to_complete),
    );
    let yields = agents().filter_map(|(id, it)| Some((id, it.first_pass_yield()?)));
    gauge(
        "baton_handoff_first_pass_ratio",
        "Share of first handoffs that were not sent back, by sender.",
        yields.map(|(id, it)| format!("{{agent=\"{id}\"}} {it}")).collect(),
    );
    let rejected = agents().flat_map(|(id, it)| {
        let by = [
            ("agent", it.rejected.by_agent),
            ("checks", it.rejected.by_checks),
            ("person", it.rejected.by_person),
        ];
        by.map(|(by, n)| format!("{{agent=\"{id}\",by=\"{by}\"}} {n}"))
    });
    gauge("baton_handoffs_rejected", "Handoffs sent back, by sender.", rejected.collect());
    let scores = agents().filter_map(|(id, it)| Some((id, it.mean_score()?)));
    gauge(
        "baton_handoff_completeness",
        "Mean completeness score of packages, 0 to 100, by sender.",
        scores.map(|(id, it)| format!("{{agent=\"{id}\"}} {it}")).collect(),
    );
    let costs = agents().filter_map(|(id, it)| Some((id, it.used.micro_usd?)));
    gauge(
        "baton_handoff_cost_usd",
        "What programs said that they cost, by receiver.",
        costs.map(|(id, it)| format!("{{agent=\"{id}\"}} {}", it as f64 / 1e6)).collect(),
    );
    let tokens = agents().filter(|(_, it)| it.n_measured > 0).flat_map(|(id, it)| {
        let kinds = [("input", it.used.input_tokens), ("output", it.used.output_tokens)];
        kinds.map(|(kind, n)| format!("{{agent=\"{id}\",kind=\"{kind}\"}} {n}"))
    });
    gauge("baton_handoff_tokens", "Tokens used, by receiver.", tokens.collect());
    let (n_people, waited_ms) = insights
        .workflows
        .iter()
        .fold((0, 0), |(n, ms), (_, it)| (n + it.n_escalations, ms + it.waited_for_people_ms));
    gauge(
        "baton_handoffs_to_people",
        "Gates and escalations of 7 days.",
        vec![format!(" {n_people}")],
    );
    let seconds = waited_ms / 1000;
    gauge("baton_people_wait_seconds", "How long they waited.", vec![format!(" {seconds}")]);
}
