//! Definitions: the workflows that the project has now.

use baton_api::{Page, WorkflowDocument};
use baton_core::names::WorkflowName;
use baton_engine::Entry;

use super::answer::ApiResponse;
use crate::lookup::not_found;
use crate::openapi::ReadProblems;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Lists the project's workflows.
///
/// As their files are now. A run keeps the workflow that it started with.
#[utoipa::path(get, path = "/api/v1/definitions", operation_id = "listDefinitions",
    tag = "definitions",
    responses(
        (status = 200, description = "One page of workflows",
            body = Page<WorkflowDocument>),
        ReadProblems))]
pub(super) async fn list(app: RequestScope) -> ApiResponse<Page<WorkflowDocument>> {
    let catalog = app.read().fresh_catalog();
    let document = |it: &Entry| WorkflowDocument::new(&it.workflow, catalog.default_workflow());
    ApiResponse::new(Page { items: catalog.workflows().map(document).collect(), next: None })
}

/// Shows a workflow.
///
/// Its steps, edges, gates and delegates, as its file is now.
#[utoipa::path(get, path = "/api/v1/definitions/{name}", operation_id = "getDefinition",
    tag = "definitions",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "The workflow", body = WorkflowDocument), ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Named(name): Named,
) -> Result<ApiResponse<WorkflowDocument>, ApiProblem> {
    let no_such = |_| not_found("no_such_workflow", format!("there is no workflow `{name}`"));
    let parsed = WorkflowName::parse(&name).map_err(no_such)?;
    let catalog = app.read().fresh_catalog();
    let entry = catalog.workflow(&parsed)?;
    Ok(ApiResponse::new(WorkflowDocument::new(&entry.workflow, catalog.default_workflow())))
}
