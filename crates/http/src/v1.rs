//! The native API: everything that the engine does, under `/api/v1`.

mod agents;
pub(crate) mod answer;
pub(crate) mod approvals;
mod archive;
mod audit;
mod blockers;
mod checks;
mod claims;
pub(crate) mod command_result;
mod completion;
mod conversation;
mod dates;
mod decisions;
mod definitions;
mod documents;
pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod handoffs;
mod idempotency_keys;
pub(crate) mod inbox;
pub(crate) mod insights;
mod long_poll;
mod messages;
mod metrics;
mod permissions;
mod questions;
pub(crate) mod runs;
mod shared_context;
pub(crate) mod status;
pub(crate) mod stories;
mod usage;
mod window;
mod workflows;
mod write;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;

pub(crate) use self::agents::step_title;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(status::get))
        .routes(routes!(stories::list, stories::add))
        .routes(routes!(stories::get, stories::put))
        .routes(routes!(runs::list, runs::start))
        .routes(routes!(runs::get))
        .routes(routes!(runs::definition))
        .routes(routes!(runs::pause))
        .routes(routes!(runs::resume))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::goto))
        .routes(routes!(runs::skip))
        .routes(routes!(runs::reroute))
        .routes(routes!(runs::clean_up))
        .routes(routes!(completion::get))
        .routes(routes!(events::list))
        .routes(routes!(messages::list, messages::post))
        .routes(routes!(conversation::read))
        .routes(routes!(questions::list, questions::ask))
        .routes(routes!(questions::get))
        .routes(routes!(questions::answer))
        .routes(routes!(decisions::list, decisions::record))
        .routes(routes!(decisions::get))
        .routes(routes!(decisions::supersede))
        .routes(routes!(decisions::lock))
        .routes(routes!(shared_context::list))
        .routes(routes!(shared_context::get, shared_context::set))
        .routes(routes!(shared_context::history))
        .routes(routes!(usage::list))
        .routes(routes!(usage::report))
        .routes(routes!(handoffs::list, handoffs::create))
        .routes(routes!(handoffs::get))
        .routes(routes!(handoffs::package))
        .routes(routes!(files::list, files::notice))
        .routes(routes!(files::get, files::put))
        .routes(routes!(handoffs::prompt::prompt))
        .routes(routes!(handoffs::template::template))
        .routes(routes!(documents::receive))
        .merge(handoffs::commands::routes())
        .routes(routes!(idempotency_keys::get))
        .routes(routes!(claims::claim))
        .routes(routes!(claims::lose))
        .routes(routes!(permissions::ask))
        .routes(routes!(permissions::withdraw))
        .routes(routes!(checks::claim))
        .routes(routes!(checks::report))
        .routes(routes!(archive::get))
        .routes(routes!(archive::rebuild))
        .routes(routes!(inbox::list))
        .routes(routes!(inbox::answer))
        .routes(routes!(approvals::delegate))
        .routes(routes!(blockers::list))
        .routes(routes!(metrics::get))
        .routes(routes!(insights::get))
        .routes(routes!(audit::list))
        .routes(routes!(audit::export))
        .routes(routes!(audit::checkpoints::list, audit::checkpoints::sign))
        .routes(routes!(audit::checkpoints::events))
        .routes(routes!(audit::redactions::redact))
        .routes(routes!(audit::retention::apply))
        .routes(routes!(agents::list))
        .routes(routes!(agents::get))
        .routes(routes!(definitions::list))
        .routes(routes!(definitions::get))
        .routes(routes!(workflows::get))
        .routes(routes!(workflows::status))
        .routes(routes!(workflows::handoffs))
}
