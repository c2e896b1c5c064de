//! What holds for every operation and no route can say by itself: where the server is, that there is
//! no login, which bodies may be left out, and that a read may be conditional.

use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{ArrayItems, Components, ObjectBuilder, Schema, Type};
use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::{OpenApi, PathItem, Ref, RefOr, Required};

/// Any tag, or a list of entity tags as RFC 9110 has it.
pub(crate) const TAGS: &str = r#"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#;

pub(crate) fn finish(document: &mut OpenApi) {
    let here = "This server; `baton serve` listens on http://127.0.0.1:4180 unless it is asked to \
                listen elsewhere";
    document.servers = Some(vec![ServerBuilder::new().url("/").description(Some(here)).build()]);
    // Requests come from this machine alone, and need no credentials.
    document.security = Some(Vec::new());
    for item in document.paths.paths.values_mut() {
        for body in operations(item).filter_map(|it| it.request_body.as_mut()) {
            if let RefOr::T(body) = body {
                describe_optional(body);
            }
        }
        if let Some(read) = &mut item.get {
            describe_conditional(read);
        }
    }
    if let Some(components) = &mut document.components {
        refer_to_items(components);
        describe_optional_parts(components);
    }
}

/// utoipa describes an optional flattened document as "that document or null", which no object can
/// be: its members are optional members of the whole instead, and it is no schema of its own.
fn describe_optional_parts(components: &mut Components) {
    let named = components.schemas.clone();
    let mut inlined = Vec::new();
    for schema in components.schemas.values_mut() {
        let RefOr::T(Schema::AllOf(whole)) = schema else { continue };
        for part in &mut whole.items {
            let Some(reference) = without_null(part) else { continue };
            let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
            if let Some(RefOr::T(Schema::Object(document))) = named.get(name) {
                let mut members = document.clone();
                members.required.clear();
                members.description = Some(reference.description);
                *part = members.into();
                inlined.push(name.to_owned());
            }
        }
    }
    components.schemas.retain(|name, _| !inlined.contains(name));
}

/// utoipa writes the item of a page out in each page; a reference lets clients have one type for it.
fn refer_to_items(components: &mut Components) {
    let named = components.schemas.clone();
    for page in components.schemas.values_mut() {
        let RefOr::T(Schema::Object(page)) = page else { continue };
        let Some(RefOr::T(Schema::Array(list))) = page.properties.get_mut("items") else {
            continue;
        };
        let ArrayItems::RefOrSchema(item) = &mut list.items else { continue };
        if let Some((name, _)) = named.iter().find(|(_, it)| **it == **item) {
            **item = Ref::from_schema_name(name).into();
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete]
        .into_iter()
        .filter_map(Option::as_mut)
}

/// A body that may be null may be left out, and that is how clients do it.
fn describe_optional(body: &mut RequestBody) {
    for content in body.content.values_mut() {
        let RefOr::T(content) = content else { continue };
        if let Some(whole) = content.schema.as_ref().and_then(without_null) {
            content.schema = Some(whole.into());
            body.required = Some(Required::False);
        }
    }
}

/// The document that a schema refers to, if null would do as well.
fn without_null(schema: &RefOr<Schema>) -> Option<Ref> {
    let RefOr::T(Schema::OneOf(choices)) = schema else { return None };
    let null = |it: &RefOr<Schema>| matches!(it, RefOr::T(Schema::Object(it)) if it.schema_type == Type::Null.into());
    if !choices.items.iter().any(null) {
        return None;
    }
    choices.items.iter().find_map(|it| match it {
        RefOr::Ref(reference) => Some(reference.clone()),
        RefOr::T(_) => None,
    })
}

/// A read whose answer has an `ETag` need not send it again.
fn describe_conditional(read: &mut Operation) {
    let has_tag = read.responses.responses.get("200").is_some_and(|it| match it {
        RefOr::T(response) => response.headers.contains_key("ETag"),
        RefOr::Ref(_) => false,
    });
    if !has_tag {
        return;
    }
    let tags = ObjectBuilder::new().schema_type(Type::String).pattern(Some(TAGS));
    let parameter = ParameterBuilder::new()
        .name("If-None-Match")
        .parameter_in(ParameterIn::Header)
        .description(Some(
            "An `ETag` that was given before: unless it has changed, the answer is 304",
        ))
        .schema(Some(tags))
        .build();
    read.parameters.get_or_insert_default().push(RefOr::T(parameter));
    let unchanged =
        ResponseBuilder::new().description("As it was at the `ETag` in `If-None-Match`");
    read.responses.responses.insert("304".to_owned(), unchanged.build().into());
}
