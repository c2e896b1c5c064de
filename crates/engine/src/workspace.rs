//! Checks the files that a package names, where a workspace is accessible.

use std::collections::BTreeMap;
use std::sync::Arc;

use baton_core::command::{Accept, Command};
use baton_core::decide::asks_for_answers;
use baton_core::document::Node;
use baton_core::lint::{self, Facts, FileFact};
use baton_core::package::Package;
use baton_core::run::{HandoffNo, Kind, RunId};
use baton_core::view::{FindingToAnswer, findings_to_answer};
use baton_store::HandoffRef;

use crate::repository::Repository;
use crate::{Engine, EngineError, stored};

/// Access to the disk with the work's files. It may block.
pub trait Workspace: Send + Sync {
    /// Facts about the files that a document names; unknown ones are left out.
    fn facts(&self, document: &Node) -> Facts;

    /// As [`Workspace::facts`], in the folder that the agents of a run work in.
    fn facts_in_run(&self, _run: RunId, document: &Node) -> Facts {
        self.facts(document)
    }

    /// As [`Workspace::facts_in_run`], for an agent that a runner started: where that runner is on another
    /// machine, nothing is known.
    fn facts_of_attempt(&self, run: RunId, document: &Node) -> Facts {
        self.facts_in_run(run, document)
    }

    /// The git repository of the work, with the branch of a story.
    fn repository(&self, branch: &str) -> Repository;
}

impl Engine {
    /// With access to the files of the work.
    #[must_use]
    pub fn with_workspace(self, workspace: Arc<dyn Workspace>) -> Self {
        Self { workspace: Some(workspace), ..self }
    }

    /// Adds Baton's own checks of the package (the YAML handoff's checklist) to the receiver's
    /// acknowledgement; both are stored.
    pub(crate) async fn checked(
        &self,
        run: RunId,
        no: HandoffNo,
        mut command: Command,
    ) -> Result<Command, EngineError> {
        if let Command::Accept(Accept { acknowledgement: Some(acknowledgement), .. }) = &mut command
        {
            let document = self.document_of(run, no).await?;
            let facts = self.facts(Some(run), document.clone()).await;
            *acknowledgement = acknowledgement.clone().checked(document.as_ref(), &facts);
        }
        Ok(command)
    }

    /// The package of a handoff, where it can be parsed.
    async fn document_of(&self, run: RunId, no: HandoffNo) -> Result<Option<Node>, EngineError> {
        let Some(row) = self.store.handoff(&HandoffRef::InRun(run, no)).await? else {
            return Ok(None);
        };
        let texts = self.whole_texts(run, row.package).await?;
        Ok(row.package.and_then(|it| texts.content(it)).and_then(stored::document))
    }

    /// The findings in the work that the sender of a command holds. Only workflows that ask for
    /// answers to them cost anything.
    pub(crate) async fn to_answer(
        &self,
        run: RunId,
        command: &Command,
    ) -> Result<Vec<FindingToAnswer>, EngineError> {
        let (mut loaded, _) = self.load(run).await?;
        let asks = loaded.workflow.contracts.iter().any(asks_for_answers);
        if asks {
            (loaded, _) = Box::pin(self.load_current(run)).await?;
        }
        let held = if let Command::Complete(it) = command {
            Some(it.handoff)
        } else if let Command::Create(it) = command {
            let mut open = loaded.run.handoffs.iter().rev().filter(|it| it.kind != Kind::Question);
            open.find(|row| row.to.agent == it.from).map(|it| it.no)
        } else {
            None
        };
        let Some(held) = held.filter(|_| asks) else { return Ok(Vec::new()) };
        // A review that was damaged or redacted since asks for nothing.
        let document = self.document_of(run, held).await.ok().flatten();
        Ok(document.map(|it| findings_to_answer(&it)).unwrap_or_default())
    }

    /// What is on the disk of the files that a package names. A package that names none costs
    /// nothing.
    pub(crate) async fn files_of(
        &self,
        run: Option<RunId>,
        package: Option<&Package>,
    ) -> BTreeMap<String, FileFact> {
        let named = package.filter(|_| self.workspace.is_some());
        let named = named.filter(|it| !lint::paths(&it.document).is_empty());
        match named {
            Some(package) => self.facts(run, Some(Node::clone(&package.document))).await.files,
            None => BTreeMap::new(),
        }
    }

    /// As [`Engine::files_of`], for what the agent of an attempt hands on.
    pub(crate) async fn files_of_attempt(
        &self,
        run: RunId,
        package: Option<&Package>,
    ) -> BTreeMap<String, FileFact> {
        let named = package.filter(|it| !lint::paths(&it.document).is_empty());
        let (Some(workspace), Some(package)) = (self.workspace.clone(), named) else {
            return BTreeMap::new();
        };
        let Ok(_turn) = self.looks.acquire().await else { return BTreeMap::new() };
        let document = Node::clone(&package.document);
        let look = move || workspace.facts_of_attempt(run, &document);
        tokio::task::spawn_blocking(look).await.unwrap_or_default().files
    }

    /// Without a workspace, no facts are known.
    async fn facts(&self, run: Option<RunId>, document: Option<Node>) -> Facts {
        match (self.workspace.clone(), document) {
            (Some(workspace), Some(document)) => {
                // A small package may name large files, which are read whole: few at a time.
                let Ok(_turn) = self.looks.acquire().await else { return Facts::default() };
                let look = move || match run {
                    Some(run) => workspace.facts_in_run(run, &document),
                    None => workspace.facts(&document),
                };
                tokio::task::spawn_blocking(look).await.unwrap_or_default()
            }
            (None, _) | (Some(_), None) => Facts::default(),
        }
    }
}
