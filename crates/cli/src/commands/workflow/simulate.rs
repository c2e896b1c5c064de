//! `baton workflow simulate`: runs without work, by a script or by chance.

use std::path::Path;

use baton_core::agent::Agent;
use baton_core::document::Node;
use baton_core::lint::Settings;
use baton_core::names::AgentId;
use baton_core::problem::Problem;
use baton_core::registry::Agents;
use baton_core::simulate::{
    SimulatedEnd, SimulatedPath, SimulatedRun, Simulation, SimulationReport,
};
use baton_core::workflow::Workflow;
use baton_wire::file_problem::FileProblem;
use baton_wire::{builtin, simulation_script};

use crate::args::SimulateArgs;
use crate::failure::Failure;
use crate::named_file;
use crate::project::parsed;
use crate::show::{self, OutputFormat};

/// Of many runs, the paths that are shown.
const MOST_PATHS: usize = 5;

pub(super) fn run(
    workflow: &Workflow,
    asked: &SimulateArgs,
    format: OutputFormat,
) -> Result<(), Failure> {
    let mode = asked.mode.unwrap_or_default();
    if !workflow.modes().contains(&mode) {
        let message = format!(
            "`{}` has no mode `{}`: none of its edges has it in `ask_in`",
            workflow.name,
            mode.name()
        );
        return Err(Failure::Usage(message));
    }
    let workflow = workflow.in_mode(mode);
    let agents = agents(&workflow);
    let lint = Settings::default();
    let simulation = Simulation {
        workflow: &workflow,
        mode,
        agents: &agents,
        implied: builtin::contracts(),
        lint: &lint,
    };
    if let Some(script) = &asked.script {
        let text = named_file::text(script)?;
        let moves = parsed(Path::new(script), simulation_script::parse(&text))?;
        let run = simulation.by_script(&moves).map_err(|(line, why)| {
            let problem = Problem::new("", "refused", why);
            Failure::File {
                file: script.clone(),
                problems: vec![FileProblem { line, column: 1, problem }],
            }
        })?;
        show_run(&run, format);
        return Ok(());
    }
    if asked.runs == 1 {
        show_run(&simulation.by_chance(asked.seed), format);
        return Ok(());
    }
    let report = simulation.many(asked.runs, asked.seed);
    match format {
        OutputFormat::Json => show::answer_json(&report_json(&workflow, asked, &report)),
        OutputFormat::Table => show::answer(&report_page(&report)),
    }
    if report.n_stuck > 0 {
        let stuck = show::counted(report.n_stuck.into(), "run");
        let message = format!("{stuck} got stuck; `--json` has the first of them whole");
        return Err(Failure::Broken { what: message });
    }
    Ok(())
}

/// Every agent that the workflow names: a simulation needs no prompts.
fn agents(workflow: &Workflow) -> Agents {
    let delegates = |it: &baton_core::workflow::Step| -> Vec<AgentId> {
        it.delegates.iter().map(|it| it.agent.clone()).collect()
    };
    let at_steps =
        workflow.steps.iter().flat_map(|it| it.agents.iter().cloned().chain(delegates(it)));
    let resolvers = workflow.routing.rows.iter().flat_map(|it| &it.resolvers);
    let named = at_steps.chain(resolvers.map(|it| it.agent.clone()));
    let named = named.filter(|it| !it.is_human() && !it.is_orchestrator());
    Agents::new(named.map(Agent::unknown))
}

fn show_run(run: &SimulatedRun, format: OutputFormat) {
    match format {
        OutputFormat::Json => show::answer_json(&run_json(run)),
        OutputFormat::Table => {
            let end = match run.end {
                SimulatedEnd::Completed => show::good(run.end.name()),
                SimulatedEnd::Aborted | SimulatedEnd::Waiting | SimulatedEnd::Stuck => {
                    run.end.name().to_owned()
                }
            };
            let why = run.why.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
            show::answer(&format!("{}\n\n{end}{why}", run.path.join("\n")));
        }
    }
}

fn report_page(report: &SimulationReport) -> String {
    let ends = [
        (SimulatedEnd::Completed, report.n_completed),
        (SimulatedEnd::Aborted, report.n_aborted),
        (SimulatedEnd::Waiting, report.n_waiting),
        (SimulatedEnd::Stuck, report.n_stuck),
    ];
    let rows = ends.map(|(end, n)| vec![end.name().to_owned(), n.to_string()]);
    let mut page = show::table(&["END", "RUNS"], rows.to_vec());
    for SimulatedPath { path, n_runs } in report.most_frequent(MOST_PATHS) {
        page += &format!("\n\n{}:\n{}", show::counted(n_runs.into(), "run"), indented(&path));
    }
    page += &format!(
        "\n\nthe longest path has {}",
        show::counted(report.longest.len() as u64, "handoff")
    );
    for run in &report.stuck {
        let why = run.why.as_deref().unwrap_or("no reason");
        page += &format!("\n\nstuck ({why}):\n{}", indented(&run.path));
    }
    page
}

fn indented(path: &[String]) -> String {
    path.iter().map(|it| format!("  {it}")).collect::<Vec<_>>().join("\n")
}

fn report_json(workflow: &Workflow, asked: &SimulateArgs, report: &SimulationReport) -> Node {
    let path = |it: &SimulatedPath| {
        Node::map([("runs", Node::count(it.n_runs.into())), ("path", texts(&it.path))])
    };
    Node::map([
        ("workflow", Node::text(workflow.name.as_str())),
        ("runs", Node::count(asked.runs.into())),
        ("seed", Node::count(asked.seed)),
        ("completed", Node::count(report.n_completed.into())),
        ("aborted", Node::count(report.n_aborted.into())),
        ("waiting", Node::count(report.n_waiting.into())),
        ("stuck", Node::count(report.n_stuck.into())),
        ("longest", texts(&report.longest)),
        ("mostFrequent", Node::List(report.most_frequent(MOST_PATHS).iter().map(path).collect())),
        ("stuckRuns", Node::List(report.stuck.iter().map(run_json).collect())),
    ])
}

fn run_json(run: &SimulatedRun) -> Node {
    Node::map([
        ("end", Node::text(run.end.name())),
        ("path", texts(&run.path)),
        ("why", run.why.as_ref().map_or(Node::Null, Node::text)),
    ])
}

fn texts(items: &[String]) -> Node {
    Node::List(items.iter().map(Node::text).collect())
}
