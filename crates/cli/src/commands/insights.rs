//! `baton insights`: how handing off fares.

use baton_api::{
    EdgeInsights, InsightCost, InsightFigures, InsightsDocument, RejectReasonDocument,
};

use crate::api::{Api, Ask};
use crate::args::{InsightsArgs, InsightsBy};
use crate::failure::Failure;
use crate::show::{self, OutputFormat, TimeFormat};

pub(crate) async fn run(api: &Api, args: &InsightsArgs) -> Result<(), Failure> {
    let ask = Ask::get(["insights"]).with("days", args.days);
    let reply = api.send(&ask.with_some("workflow", args.workflow.as_ref())).await?;
    if api.format == OutputFormat::Json {
        show::answer_document(&reply.body);
        return Ok(());
    }
    let found: InsightsDocument = reply.document()?;
    let times = TimeFormat::local();
    let (from, to) = (times.show(found.from), times.show(found.to));
    let handoffs = show::counted(found.handoffs, "handoff");
    if found.handoffs == 0 {
        show::answer(&format!("no handoffs from {from} to {to}"));
        return Ok(());
    }
    show::answer(&table(&found, args.by, &times));
    show::note(&format!("{handoffs} from {from} to {to}"));
    if found.is_cut {
        show::note("there were more; only the newest 20,000 were looked at");
    }
    Ok(())
}

/// With its workflow, where another one has an edge between steps of the same names.
fn edge_name(edge: &EdgeInsights, all: &[EdgeInsights]) -> String {
    let name = format!("{} → {}", edge.from, edge.to);
    let is_alike = |it: &&EdgeInsights| (&it.from, &it.to) == (&edge.from, &edge.to);
    match all.iter().filter(is_alike).count() {
        0 | 1 => name,
        _ => format!("{name} ({})", edge.workflow),
    }
}

/// The first column about quality; those before it are about speed.
const FIRST_OF_QUALITY: usize = 7;

fn table(found: &InsightsDocument, by: InsightsBy, times: &TimeFormat) -> String {
    let (heading, rows): (&str, Vec<Vec<String>>) = match by {
        InsightsBy::Agent => {
            ("AGENT", found.agents.iter().map(|it| cells(&it.agent, &it.figures)).collect())
        }
        InsightsBy::Edge => {
            let edges = found.edges.iter();
            ("EDGE", edges.map(|it| cells(&edge_name(it, &found.edges), &it.figures)).collect())
        }
        InsightsBy::Workflow => {
            let workflows = found.workflows.iter();
            ("WORKFLOW", workflows.map(|it| cells(&it.workflow, &it.figures)).collect())
        }
        InsightsBy::Week => {
            let weeks = found.weeks.iter();
            ("WEEK OF", weeks.map(|it| cells(&it.week.to_string(), &it.figures)).collect())
        }
        InsightsBy::Reason => return reason_table(&found.reject_reasons, times),
    };
    let headings = [
        heading,
        "HANDOFFS",
        "OPEN",
        "ACCEPT P50/P95",
        "DONE P50/P95",
        "TO PEOPLE",
        "WAITED",
        "FIRST PASS",
        "SENT BACK",
        "SCORE",
        "COST",
    ];
    show::list_or_two(&headings, rows, FIRST_OF_QUALITY)
}

fn reason_table(reasons: &[RejectReasonDocument], times: &TimeFormat) -> String {
    if reasons.is_empty() {
        return "no work was sent back".to_owned();
    }
    let row = |it: &RejectReasonDocument| {
        let reason = if it.reason.is_empty() {
            "(none given)".to_owned()
        } else {
            show::visible(&it.reason)
        };
        let reason = if it.reason_truncated { format!("{reason} …") } else { reason };
        vec![
            it.times.to_string(),
            format!("{} → {}", it.from, it.to),
            it.last_handoff.to_string(),
            times.show(it.last_at),
            reason,
        ]
    };
    show::list(&["TIMES", "EDGE", "LAST", "AT", "REASON"], reasons.iter().map(row).collect())
}

fn cells(name: &str, it: &InsightFigures) -> Vec<String> {
    let first_pass = it.first_pass_yield.map(|it| format!("{:.0} %", it * 100.0));
    let by = &it.rejected_by;
    let sent_back = match it.rework_rounds {
        0 => "0".to_owned(),
        n if by.checks > 0 => format!("{n} ({} by checks)", by.checks),
        n => n.to_string(),
    };
    vec![
        show::visible(name),
        it.handoffs.to_string(),
        it.open.to_string(),
        spans(it.accept_p50_ms, it.accept_p95_ms),
        spans(it.complete_p50_ms, it.complete_p95_ms),
        it.escalations.to_string(),
        if it.escalations == 0 { String::new() } else { span(it.waited_for_people_ms) },
        first_pass.unwrap_or_default(),
        sent_back,
        it.completeness_score.map(|it| format!("{it:.0}")).unwrap_or_default(),
        cost(&it.cost),
    ]
}

/// In dollars, else in tokens, where the programs said either.
fn cost(it: &InsightCost) -> String {
    match it.usd {
        Some(usd) => format!("${usd:.2}"),
        None if it.measured > 0 => format!("{} tokens", it.input_tokens + it.output_tokens),
        None => String::new(),
    }
}

fn spans(p50: Option<u64>, p95: Option<u64>) -> String {
    match (p50, p95) {
        (Some(p50), Some(p95)) => format!("{} / {}", span(p50), span(p95)),
        (None, _) | (_, None) => String::new(),
    }
}

fn span(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{} s", ms / 1_000),
        120_000..7_200_000 => format!("{} min", ms / 60_000),
        7_200_000..172_800_000 => format!("{} h", ms / 3_600_000),
        _ => format!("{} days", ms / 86_400_000),
    }
}
