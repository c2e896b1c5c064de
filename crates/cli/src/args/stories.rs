//! What may be typed after `baton story`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum StoryCommand {
    /// Add a story
    Add(StoryAdd),
    /// List all stories
    #[command(visible_alias = "ls")]
    List,
    /// Show one story and its runs
    Show {
        /// The story's key
        #[arg(value_name = "STORY")]
        key: String,
    },
    /// Change what a story says; what is not named stays as it is
    Edit(StoryEdit),
    /// Add or update stories from a file
    Import {
        /// A YAML or JSON file with stories; `-` for stdin
        file: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct StoryAdd {
    /// What people call it, such as `v0.1:1.1.1` or `owner/repo#123`
    pub(crate) key: String,
    /// One line that says what it is about [default: the key]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// What is wanted, and why
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) description: String,
    /// An acceptance criterion; give it again for more
    #[arg(long, value_name = "TEXT")]
    pub(crate) acceptance: Vec<String>,
    /// A story that has to be finished first; give it again for more
    #[arg(long, value_name = "STORY")]
    pub(crate) depends_on: Vec<String>,
    /// Higher goes first
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    pub(crate) priority: i64,
    /// The branch that its work goes to
    #[arg(long)]
    pub(crate) branch: Option<String>,
    /// The address of its pull request
    #[arg(long, value_name = "URL")]
    pub(crate) pr_url: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StoryEdit {
    /// The story's key
    #[arg(value_name = "STORY")]
    pub(crate) key: String,
    /// One line that says what it is about
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// What is wanted, and why
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// An acceptance criterion; those given replace all that it has, and `''` removes them
    #[arg(long, value_name = "TEXT")]
    pub(crate) acceptance: Option<Vec<String>>,
    /// A story that has to be finished first; those given replace all that it has, and `''` removes them
    #[arg(long, value_name = "STORY")]
    pub(crate) depends_on: Option<Vec<String>>,
    /// Higher goes first
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) priority: Option<i64>,
    /// The branch that its work goes to; `''` removes it
    #[arg(long)]
    pub(crate) branch: Option<String>,
    /// The address of its pull request; `''` removes it
    #[arg(long, value_name = "URL")]
    pub(crate) pr_url: Option<String>,
}

impl StoryEdit {
    /// Whether nothing is to be changed.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { key: _, title, description, acceptance, depends_on, priority, branch, pr_url } =
            self;
        [title, description, branch, pr_url].into_iter().all(Option::is_none)
            && [acceptance, depends_on].into_iter().all(Option::is_none)
            && priority.is_none()
    }
}
