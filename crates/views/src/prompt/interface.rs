/// How the agent communicates with Baton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentInterface {
    /// Over HTTP.
    Curl,
    /// With the `baton` command.
    Cli,
    /// By a block at the end of its output, which the agent's launcher reads.
    Block,
}

impl AgentInterface {
    pub fn name(self) -> &'static str {
        match self {
            AgentInterface::Curl => "curl",
            AgentInterface::Cli => "cli",
            AgentInterface::Block => "block",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Curl, Self::Cli, Self::Block].into_iter().find(|it| it.name() == name)
    }

    pub(super) fn template(self) -> &'static str {
        match self {
            AgentInterface::Curl => "curl.md.jinja",
            AgentInterface::Cli => "cli.md.jinja",
            AgentInterface::Block => "block.md.jinja",
        }
    }
}
