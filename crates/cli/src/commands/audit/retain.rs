//! `baton audit retain`: drops old messages of finished runs, as the project's file says.

use baton_api::{Nothing, RetentionResult};

use crate::api::{Api, Ask};
use crate::args::WriteArgs;
use crate::failure::Failure;
use crate::show::{self, OutputFormat};

pub(super) async fn run(api: &Api, write: &WriteArgs) -> Result<(), Failure> {
    let ask = Ask::post(["audit", "retention"], &Nothing {}).writing(write);
    let reply = api.send(&ask).await?;
    if api.format == OutputFormat::Json {
        show::answer_document(&reply.body);
        return Ok(());
    }
    let result: RetentionResult = reply.document()?;
    let Some(days) = result.messages_kept_days else {
        show::answer(
            "messages are kept for ever; `[retention]` in `.baton/baton.toml` says otherwise, \
             such as `messages = \"90d\"`",
        );
        return Ok(());
    };
    let days = show::counted(days, "day");
    if result.messages == 0 {
        show::answer(&format!("no message is older than {days} after the end of its run"));
        return Ok(());
    }
    let verb = if result.is_recorded { "dropped" } else { "would drop" };
    let (messages, runs) =
        (show::counted(result.messages, "message"), show::counted(result.runs, "run"));
    show::answer(&format!("{verb} {messages} of {runs} that ended more than {days} ago:"));
    for it in &result.items {
        let messages = show::counted(it.messages, "message");
        show::answer(&format!("  run {} ({}): {messages}", it.run, show::visible(&it.story)));
    }
    Ok(())
}
