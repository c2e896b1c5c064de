//! Findings, for people and for programs.

use baton_core::document::Node;
use baton_core::lint::{Finding, LintReport, Severity};

use super::{Looked, Unread};
use crate::show;

pub(super) fn answer(looked: &[Looked]) {
    for (index, it) in looked.iter().enumerate() {
        if index > 0 {
            show::answer("");
        }
        show_one(it);
    }
    if looked.len() > 1 {
        let of = |severity| -> usize {
            looked.iter().filter_map(|it| it.report.as_ref().ok()).map(|it| it.n_of(severity)).sum()
        };
        let (n_errors, n_warnings) = (of(Severity::Error), of(Severity::Warning));
        let n_files = looked.len();
        show::answer(&format!("\n{n_files} files, errors: {n_errors}, warnings: {n_warnings}"));
    }
}

fn show_one(looked: &Looked) {
    let file = show::visible(&looked.file);
    let report = match &looked.report {
        Ok(report) => report,
        Err(unread) => {
            let why = match unread {
                Unread::File(failure) => failure.to_string(),
                Unread::Document(error) => format!("as {}, {error}", error.format.title()),
            };
            show::answer(&format!("{} {}", show::bold(&file), show::warn("cannot be read")));
            show::answer(&format!("  {}", show::visible(&why)));
            return;
        }
    };
    let contract = looked.contract.as_deref().map(|it| format!(", by the contract `{it}`"));
    let points = format!("{} of 100", report.score.points);
    let points = if looked.is_below() { show::warn(&points) } else { points };
    let contract = show::dim(&contract.unwrap_or_default());
    show::answer(&format!("{} {points}{contract}", show::bold(&file)));
    for finding in &report.findings {
        show::answer(&format!("  {}", line(finding)));
    }
    for (finding, reason) in &report.silenced {
        let reason = show::visible(reason);
        show::answer(&show::dim(&format!("  silenced: {} ({reason})", finding.code)));
    }
    if !report.unverified.is_empty() {
        let paths: Vec<String> = report.unverified.iter().map(|it| show::visible(it)).collect();
        show::answer(&show::dim(&format!("  unverified: {}", paths.join(", "))));
    }
    if looked.is_below() {
        let least = looked.min_score.unwrap_or_default();
        show::answer(&format!("  {} at least {least} is asked for:", show::warn("score")));
        for part in &report.score.parts {
            show::answer(&format!(
                "    {} {} of {}: {}",
                part.name, part.points, part.of, part.why
            ));
        }
    }
}

fn line(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Error => show::bad("error"),
        Severity::Warning => show::warn("warning"),
        Severity::Info => show::dim("info"),
    };
    let path = match finding.path.as_str() {
        "" => String::new(),
        path => format!("{}: ", show::visible(path)),
    };
    let fix = match finding.rule {
        Some(_) => format!("; {}", finding.fix),
        None => String::new(),
    };
    let message = show::visible(&finding.message);
    format!("{severity} {path}{message}{fix} {}", show::dim(&format!("[{}]", finding.code)))
}

pub(super) fn answer_json(looked: &[Looked]) {
    show::answer_json(&Node::List(looked.iter().map(one_json).collect()));
}

fn one_json(looked: &Looked) -> Node {
    let contract = looked.contract.as_ref().map_or(Node::Null, Node::text);
    let mut members = vec![
        ("file", Node::text(&looked.file)),
        ("format", looked.format.map_or(Node::Null, |it| Node::text(it.name()))),
        ("contract", contract),
        ("isGood", Node::Bool(!looked.is_bad())),
    ];
    match &looked.report {
        Ok(report) => members.extend(report_json(report)),
        Err(unread) => members.push(("problem", problem_json(unread))),
    }
    Node::map(members)
}

fn problem_json(unread: &Unread) -> Node {
    match unread {
        Unread::File(failure) => Node::map([
            ("code", Node::text(failure.code())),
            ("message", Node::text(failure.to_string())),
        ]),
        Unread::Document(error) => Node::map([
            ("code", Node::text(error.code())),
            ("line", number(error.at.line)),
            ("column", number(error.at.column)),
            ("message", Node::text(error.sentence())),
        ]),
    }
}

fn report_json(report: &LintReport) -> Vec<(&'static str, Node)> {
    let silenced = report.silenced.iter().map(|(finding, reason)| {
        Node::map([("finding", finding_json(finding)), ("reason", Node::text(reason))])
    });
    let parts = report.score.parts.iter().map(|it| {
        Node::map([
            ("name", Node::text(it.name)),
            ("points", number(it.points.into())),
            ("of", number(it.of.into())),
            ("why", Node::text(it.why.as_ref())),
        ])
    });
    vec![
        ("score", number(report.score.points.into())),
        ("parts", Node::List(parts.collect())),
        ("taken", number(report.score.taken.into())),
        ("findings", Node::List(report.findings.iter().map(finding_json).collect())),
        ("silenced", Node::List(silenced.collect())),
        ("unverified", Node::List(report.unverified.iter().map(Node::text).collect())),
    ]
}

fn finding_json(finding: &Finding) -> Node {
    Node::map([
        ("rule", Node::text(finding.code.as_ref())),
        ("severity", Node::text(finding.severity.name())),
        ("path", Node::text(&finding.path)),
        ("message", Node::text(&finding.message)),
        ("fix", Node::text(finding.fix)),
    ])
}

fn number(number: usize) -> Node {
    Node::count(number as u64)
}
