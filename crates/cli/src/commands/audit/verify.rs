//! `baton audit verify`: what `baton verify` does, and the log compared with signed checkpoints.

use baton_core::document::Node;
use baton_engine::{CheckpointTrust, SignedPrefix, Verified};
use baton_wire::checkpoint::PublicKey;

use super::offline::{VerifiedExport, verify_export};
use crate::args::{AuditVerify, Cli};
use crate::checkpoint_key::public_key;
use crate::data::verify_project_with;
use crate::failure::Failure;
use crate::named_file;
use crate::project::Project;
use crate::show::{self, OutputFormat};

/// What no check in this file can judge.
const NEVER_JUDGED: [&str; 6] = [
    "who a principal is: each name is as it was stated",
    "whether an idempotency record, an outbox row or a projector's cursor was removed: they come and go",
    "which of several formats a package was sent in, where its text says the same in them",
    "`schema_migrations.applied_at` and `derivations.rule`, which carry no meaning",
    "the end of a lease, beyond the checksum of its row",
    "the archive's files, beyond those that have come further than the log",
];

pub(crate) async fn run(cli: &Cli, args: &AuditVerify) -> Result<(), Failure> {
    let mut trust = CheckpointTrust { elsewhere: Vec::new(), key: None };
    for path in &args.checkpoint {
        let printed = named_file::text(path)?;
        let kept = SignedPrefix::read(format!("the checkpoint in `{path}`"), &printed);
        trust.elsewhere.push(kept.map_err(|error| Failure::Broken {
            what: format!("`{path}` proves nothing: {error}"),
        })?);
    }
    if let Some(text) = &args.key {
        let key = PublicKey::parse(text).ok_or_else(|| {
            Failure::Usage(format!("`{text}` is no public key: it has 64 hexadecimal digits"))
        })?;
        trust.key = Some(key);
    }
    if let Some(path) = &args.export {
        let verified = verify_export(path, &trust)?;
        return tell_export(&verified, &trust, cli.format());
    }
    let project = Project::of(cli)?;
    // Every node of a database signs with a key of its own.
    if trust.key.is_none() && project.database.is_none() {
        trust.key = public_key(&project.data_dir()?)?;
    }
    let verified = verify_project_with(&project, &trust).await?;
    if !verified.is_sound() {
        return Err(Failure::Unsound(Box::new(verified)));
    }
    tell(&verified, &trust, cli.format());
    Ok(())
}

fn tell(verified: &Verified, trust: &CheckpointTrust, format: OutputFormat) {
    let mut unverified = missing(verified);
    unverified.extend(gaps(verified.n_checkpoints, trust));
    unverified.extend(NEVER_JUDGED.map(str::to_owned));
    match format {
        OutputFormat::Json => show::answer_json(&Node::map([
            ("runs", Node::count(verified.n_runs)),
            ("events", Node::count(verified.n_events)),
            ("checkpoints", Node::count(verified.n_checkpoints + trust.elsewhere.len() as u64)),
            ("lostTexts", Node::count(verified.n_lost_texts)),
            ("lostNumbers", Node::count(verified.n_lost_numbers)),
            ("redactedTexts", Node::count(verified.n_redacted_texts)),
            ("problems", Node::List(Vec::new())),
            ("unverified", texts(unverified)),
        ])),
        OutputFormat::Table => {
            let runs = show::counted(verified.n_runs, "run");
            let events = show::counted(verified.n_events, "event");
            let n_checkpoints = verified.n_checkpoints + trust.elsewhere.len() as u64;
            show::answer(&match n_checkpoints {
                0 => format!(
                    "{runs} and {events} verified: every chain is whole; there is no checkpoint, so no signature was checked"
                ),
                n => format!(
                    "{runs}, {events} and {} verified: every chain is whole, and is the one that was signed",
                    show::counted(n, "checkpoint")
                ),
            });
            tell_unverified(&unverified);
        }
    }
}

/// What is not there, and what says why.
fn missing(verified: &Verified) -> Vec<String> {
    let mut missing = Vec::new();
    if verified.n_lost_texts > 0 {
        let texts = show::counted(verified.n_lost_texts, "text");
        missing.push(format!(
            "{texts} missing, recorded as lost in a recovery; a checkpoint that is kept elsewhere tells \
             whether they were there"
        ));
    }
    if verified.n_lost_numbers > 0 {
        let numbers = show::counted(verified.n_lost_numbers, "number");
        missing.push(format!(
            "{numbers} of runs, handoffs or events without a row, recorded as lost in a recovery or a move; \
             a checkpoint that is kept elsewhere tells whether they were there"
        ));
    }
    if verified.n_redacted_texts > 0 {
        let texts = show::counted(verified.n_redacted_texts, "text");
        missing.push(format!("{texts} redacted, as events say"));
    }
    missing
}

fn tell_unverified(lines: &[String]) {
    for line in lines {
        show::note(&format!("{} {}", show::warn("not judged:"), show::visible(line)));
    }
}

fn tell_export(
    verified: &VerifiedExport,
    trust: &CheckpointTrust,
    format: OutputFormat,
) -> Result<(), Failure> {
    if !verified.problems.is_empty() {
        return Err(Failure::UnsoundExport { problems: verified.problems.clone() });
    }
    let mut unverified = gaps(verified.n_checkpoints, trust);
    if verified.n_after > 0 {
        let events = show::counted(verified.n_after, "event");
        unverified.push(format!(
            "{events} after the last checkpoint: only hashes without a key protect them"
        ));
    }
    unverified.push(
        match verified.has_header {
            true => "whether its end was cut and its header made anew: a header has no signature",
            false => "whether its end was cut: an earlier version wrote it, without a header",
        }
        .to_owned(),
    );
    unverified.push("texts and stories: an export has their hashes only".to_owned());
    match format {
        OutputFormat::Json => show::answer_json(&Node::map([
            ("runs", Node::count(verified.n_runs)),
            ("events", Node::count(verified.n_events)),
            ("checkpoints", Node::count(verified.n_checkpoints)),
            ("problems", Node::List(Vec::new())),
            ("unverified", texts(unverified)),
        ])),
        OutputFormat::Table => {
            show::answer(&format!(
                "{}, {} and {} of the export verified",
                show::counted(verified.n_runs, "run"),
                show::counted(verified.n_events, "event"),
                show::counted(verified.n_checkpoints, "checkpoint"),
            ));
            tell_unverified(&unverified);
        }
    }
    Ok(())
}

/// What the user could still give, for more to be proven.
fn gaps(n_checkpoints: u64, trust: &CheckpointTrust) -> Vec<String> {
    let mut gaps = Vec::new();
    if n_checkpoints == 0 && trust.elsewhere.is_empty() {
        gaps.push(
            "a forger who made all hashes anew: there is no checkpoint; `baton audit checkpoint` \
             signs one"
                .to_owned(),
        );
    } else if trust.elsewhere.is_empty() {
        gaps.push(
            "a forger who has the key too: give a checkpoint that is kept elsewhere with \
             `--checkpoint FILE`"
                .to_owned(),
        );
    }
    if trust.key.is_none() {
        gaps.push("whose key it is: give the public key with `--key`".to_owned());
    }
    gaps
}

fn texts(lines: Vec<String>) -> Node {
    Node::List(lines.into_iter().map(Node::text).collect())
}
