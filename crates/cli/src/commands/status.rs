//! `baton status`: one screen: who has the baton, and what waits for you.

use baton_api::{NodeDocument, ProjectStatus, ToDo};

use crate::api::{Api, Ask};
use crate::failure::Failure;
use crate::runners::tell_if_untrusted;
use crate::show::{self, OutputFormat};

pub(crate) async fn run(api: &Api) -> Result<(), Failure> {
    api.warn_if_not_ready().await;
    if let Some(project) = api.project() {
        tell_if_untrusted(project);
    }
    let reply = api.send(&Ask::get(["status"])).await?;
    match api.format {
        OutputFormat::Json => show::answer_document(&reply.body),
        OutputFormat::Table => show_screen(api, &reply.document()?),
    }
    Ok(())
}

fn show_screen(api: &Api, status: &ProjectStatus) {
    let mut title = vec![show::bold("baton")];
    // The folder is that of the data only where its own server was found, or none.
    let folder = api.project().filter(|_| !api.is_named_server());
    title.extend(match folder {
        Some(project) => Some(show::dim(&project.root.display().to_string())),
        None => status.project.as_deref().map(|it| show::dim(&show::visible(it))),
    });
    title.extend(api.server().map(|it| it.url.to_string()));
    let database = api.session().and_then(|it| it.project.database.as_ref());
    title.extend(database.map(|it| show::dim(&it.url.to_string())));
    show::answer(&title.join(" "));
    if status.runs.is_empty() {
        show::answer("\nno run is open");
    } else {
        show::answer("");
        show::answer(&show::runs_table(&status.runs, api.now()));
    }
    if status.has_more_runs {
        show::answer("there are more: `baton run list` has all");
    }
    if !status.waits_for_you.is_empty() {
        show::answer(&format!("\n{}", show::bold("waits for you")));
    }
    for ToDo { story, why, words, command, .. } in &status.waits_for_you {
        let (story, why) = (show::visible(story), show::visible(why));
        show::answer(&format!("  {story}: {why}"));
        if let Some(words) = words {
            show::answer(&show::block(words));
        }
        show::answer(&format!("    {}", show::visible(&show::as_caller(command))));
    }
    show_nodes(api, status);
    match status.stories_waiting {
        0 => {}
        1 => show::answer("\n1 story waits; `baton run start` starts it"),
        n => show::answer(&format!("\n{n} stories wait; `baton run start` starts the next one")),
    }
}

/// The servers on the same database, and how far its log is behind.
fn show_nodes(api: &Api, status: &ProjectStatus) {
    if !status.nodes.is_empty() {
        let row = |it: &NodeDocument| {
            let state =
                if it.is_alive { show::good("at work") } else { show::warn("not heard of") };
            vec![
                show::visible(&it.name),
                show::visible(&it.url),
                show::visible(&it.version),
                show::ago(it.started_at, api.now()),
                format!("{state} {}", show::dim(&show::ago(it.seen_at, api.now()))),
            ]
        };
        let rows = status.nodes.iter().map(row).collect();
        let headings = ["NODE", "ADDRESS", "VERSION", "STARTED", "STATE"];
        show::answer(&format!("\n{}", show::list(&headings, rows)));
    }
    if let Some(delay) = &status.log_delay {
        show::answer(&format!("\n{} {}", show::warn("careful:"), show::visible(&delay.message)));
    }
}
