//! `baton lint`: the weaknesses of a handoff, before an agent has to work with it.

mod edge;
mod report;
mod sarif;

use baton_core::document::request::{PipelineRequest, RequestAction};
use baton_core::document::{Node, data_element};
use baton_core::lint::{self, Facts, LintReport, LintRule, Parties, Settings, Severity, Silence};
use baton_core::names::AgentId;
use baton_core::package;
use baton_engine::Workspace as _;
use baton_wire::formats::{self, FormatError, Places};

use self::edge::Edges;
use crate::args::{Cli, Lint};
use crate::document::{InputDocument, SAY_FROM};
use crate::failure::Failure;
use crate::project::Project;
use crate::show::{self, OutputFormat};
use crate::workspace::Folder;

/// The result for one file.
struct Looked {
    /// The path as typed.
    file: String,
    /// Its format, where it could be determined.
    format: Option<package::Format>,
    /// The name of the contract that was applied.
    contract: Option<String>,
    /// Where its values stand.
    places: Option<Places>,
    /// The findings, or why the file cannot be read at all.
    report: Result<LintReport, Unread>,
    min_score: Option<u8>,
}

/// Why a file cannot be linted.
enum Unread {
    /// No such file, or no text.
    File(Failure),
    Document(FormatError),
}

impl Unread {
    fn code(&self) -> &str {
        match self {
            Self::File(failure) => failure.code(),
            Self::Document(error) => error.code(),
        }
    }
}

impl Looked {
    fn unread(file: &str, format: Option<package::Format>, why: Unread) -> Self {
        let file = file.to_owned();
        Self { file, format, contract: None, places: None, report: Err(why), min_score: None }
    }

    fn is_below(&self) -> bool {
        let points = self.report.as_ref().map_or(0, |it| it.score.points);
        self.min_score.is_some_and(|it| points < it)
    }

    fn is_bad(&self) -> bool {
        let has_errors = self.report.as_ref().is_ok_and(|it| it.n_of(Severity::Error) > 0);
        self.report.is_err() || has_errors || self.is_below()
    }
}

pub(crate) fn run(cli: &Cli, args: &Lint) -> Result<(), Failure> {
    let project = Project::find_or_bare(cli.project.as_deref())?;
    let edges = Edges::of(&project, args.workflow.as_deref())?;
    let said = args.edge.as_deref().map(pair).transpose()?;
    let settings = settings(&project, args)?;
    let folder = Folder { dir: project.dir, data: None, data_dir: None };
    let mut looked = Vec::new();
    for file in &args.files {
        let document = match InputDocument::read(file, args.from, SAY_FROM) {
            Ok(document) => document,
            // There is nothing else to report.
            Err(failure) if args.files.len() == 1 => return Err(failure),
            Err(failure) => {
                looked.push(Looked::unread(file, None, Unread::File(failure)));
                continue;
            }
        };
        let format = Some(document.format);
        looked.push(match formats::decode(document.format, &document.text) {
            Ok(tree) => {
                let tree = data_element::unfolded(&tree).unwrap_or(tree);
                let package = Linted::of(&tree);
                let edge =
                    edges.of_document(package.document, said.as_ref().or(package.edge.as_ref()));
                let facts = match args.no_workspace {
                    true => Facts::default(),
                    false => folder.facts(package.document),
                };
                let report = lint::lint(&lint::LintSubject {
                    document: package.document,
                    contract: edge.contract.as_deref(),
                    facts: &Facts {
                        parties: package.parties,
                        outcome: lint::likely_outcome(package.document),
                        ..facts
                    },
                    settings: &settings,
                    file: Some(file),
                });
                let report = package.at_its_place(report);
                let contract = edge.contract.as_ref().map(|it| it.name.clone());
                let min_score = args.min_score.or(edge.min_score).or(settings.min_score);
                let places = args.sarif.then(|| Places::of(document.format, &document.text));
                let (file, report) = (file.clone(), Ok(report));
                Looked { file, format, contract, places, report, min_score }
            }
            Err(error) => Looked::unread(file, format, Unread::Document(error)),
        });
    }
    match (args.sarif, cli.format()) {
        (true, _) => sarif::answer(&looked),
        (false, OutputFormat::Json) => report::answer_json(&looked),
        (false, OutputFormat::Table) => report::answer(&looked),
    }
    match looked.iter().filter(|it| it.is_bad()).count() {
        0 => Ok(()),
        n => {
            let files = show::counted(looked.len() as u64, "file");
            Err(Failure::Broken { what: format!("errors in {n} of {files}") })
        }
    }
}

/// The package in a document: the document itself, or the payload of a request to hand it on.
struct Linted<'a> {
    document: &'a Node,
    /// From whom to whom, where the request around the package says so.
    edge: Option<(AgentId, AgentId)>,
    parties: Parties,
}

impl<'a> Linted<'a> {
    fn of(document: &'a Node) -> Self {
        let request = PipelineRequest::of(document).filter(|it| it.action == RequestAction::Create);
        let whole = Self { document, edge: None, parties: Parties::InDocument };
        request.map_or(whole, |it| {
            let agent = |key: &str| AgentId::parse(it.text(key)?).ok();
            let edge = agent("fromAgent").zip(agent("toAgent"));
            Self { document: it.payload().unwrap_or(&Node::Null), edge, parties: Parties::Known }
        })
    }

    /// Paths from the top of the document.
    fn at_its_place(&self, mut report: LintReport) -> LintReport {
        match self.parties {
            Parties::InDocument => {}
            Parties::Known => {
                for finding in &mut report.findings {
                    finding.path = format!("payload.{}", finding.path);
                }
            }
        }
        report
    }
}

fn pair(said: &str) -> Result<(AgentId, AgentId), Failure> {
    let (from, to) = said.split_once(':').ok_or_else(|| {
        Failure::Usage(format!("`{said}` is no edge; write it as `analyst:implementer`"))
    })?;
    Ok((AgentId::parse(from)?, AgentId::parse(to)?))
}

/// The project's settings, and the rules silenced for this run.
fn settings(project: &Project, args: &Lint) -> Result<Settings, Failure> {
    let mut settings = project.file.lint.clone();
    for said in &args.silence {
        let (rule, reason) = said.split_once('=').unwrap_or((said, ""));
        let rule = LintRule::parse(rule).ok_or_else(|| {
            let known = LintRule::ALL.map(LintRule::code).join(", ");
            Failure::Usage(format!("there is no rule `{rule}`; known: {known}"))
        })?;
        if reason.trim().is_empty() {
            let message = format!("say why `{rule}` is silenced: `--silence {rule}=REASON`");
            return Err(Failure::Usage(message));
        }
        let reason = reason.trim().to_owned();
        settings.silences.push(Silence { rule, reason, path: None });
    }
    Ok(settings)
}
