//! The reader: from the parser's events to elements, with every check that the parser omits.

use baton_core::document::Node;
use baton_core::invisible::is_invisible;
use baton_core::package::Format;
use quick_xml::Reader as Parser;
use quick_xml::errors::IllFormedError;
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesStart, Event};

use super::assemble::{AssembledValue, ElementContent, ElementPart, Role, Written};
use super::characters::{is_blank, is_legal, is_name, reference};
use super::declaration::{self, DeclarationProblem};
use super::marks::{self, XmlKind, XmlMarks};
use super::{ITEM, ROOT};
use crate::duplicates::first_duplicate;
use crate::formats::{FormatError, FormatFault, MOST_DEPTH, refuse_nul};
use crate::shown::shown;

/// Elements may nest a little deeper than the tree: the root and list items are elements too.
const MOST_OPEN: usize = MOST_DEPTH + 2;

pub(super) fn read(text: &str) -> Result<Node, FormatError> {
    refuse_nul(Format::Xml, text)?;
    let mut parser = Parser::from_str(text);
    parser.config_mut().check_comments = true;
    let mut reader = XmlReader { text, start: 0, open: Vec::new(), root: None };
    loop {
        reader.start = offset(parser.buffer_position());
        match parser.read_event() {
            Ok(Event::Eof) => return reader.end_of_text(),
            Ok(event) => reader.take(event)?,
            Err(error) => {
                let fault = FormatFault::XmlSyntax(sentence(&error));
                return Err(reader.error_at(offset(parser.error_position()), fault));
            }
        }
    }
}

/// The parser's message, in the form our messages have.
fn sentence(error: &quick_xml::Error) -> String {
    if let quick_xml::Error::IllFormed(IllFormedError::UnclosedReference) = error {
        return AMPERSAND.to_owned();
    }
    let words: String = error.to_string().chars().filter(|it| !is_invisible(*it)).collect();
    let words = words.replace("syntax error: ", "").replace("ill-formed document: ", "");
    words.chars().take(200).collect()
}

const AMPERSAND: &str = "`&` must be written as `&amp;`";

fn offset(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// An element that is still open.
struct OpenElement {
    start: usize,
    name: String,
    marks: XmlMarks,
    content: ElementContent,
}

struct XmlReader<'a> {
    text: &'a str,
    /// The start of the current event.
    start: usize,
    open: Vec<OpenElement>,
    root: Option<Node>,
}

impl XmlReader<'_> {
    fn take(&mut self, event: Event<'_>) -> Result<(), FormatError> {
        match event {
            Event::Start(tag) => self.begin(&tag),
            Event::Empty(tag) => {
                self.begin(&tag)?;
                self.end()
            }
            Event::End(_) => self.end(),
            Event::Text(text) => {
                if text.contains("]]>") {
                    return Err(self.syntax("`]]>` must be written as `]]&gt;`"));
                }
                self.add_text(&text.xml10_content(), Written::Plainly)
            }
            Event::CData(text) => {
                self.check_within("a CDATA section")?;
                self.add_text(&text.xml10_content(), Written::Expressly)
            }
            Event::GeneralRef(name) => {
                self.check_within("a reference")?;
                let it = reference(&name).map_err(|why| self.bad_reference(&name, &why))?;
                self.add_text(it.encode_utf8(&mut [0; 4]), Written::Expressly)
            }
            Event::Comment(text) => self.check_legal(&text),
            Event::Decl(_) => self.check_declaration(),
            Event::PI(_) => Err(self.refused("processing instructions are not read; leave it out")),
            Event::DocType(_) => {
                Err(self.refused("document types and entities are not read; leave `<!DOCTYPE` out"))
            }
            Event::Eof => Ok(()),
        }
    }

    fn begin(&mut self, tag: &BytesStart<'_>) -> Result<(), FormatError> {
        if self.root.is_some() {
            return Err(self.syntax("a second root element starts here; a document has one"));
        }
        if self.open.len() == MOST_OPEN {
            return Err(self.error(FormatFault::TooDeep));
        }
        let name = tag.name();
        let name: &str = name.as_ref();
        if !is_name(name) {
            let sentence = format!("`{}` is not the name of an element", shown(name));
            return Err(self.syntax(&sentence));
        }
        if let Some(parent) = self.open.last_mut() {
            parent.content.finish_text();
        }
        let (attributes, marks) = self.attributes(tag)?;
        let content = ElementContent::new(attributes);
        self.open.push(OpenElement { start: self.start, name: name.to_owned(), marks, content });
        Ok(())
    }

    fn attributes(
        &self,
        tag: &BytesStart<'_>,
    ) -> Result<(Vec<(String, Node)>, XmlMarks), FormatError> {
        if !are_apart(tag.attributes_raw()) {
            return Err(self.syntax("a blank has to stand between two attributes"));
        }
        let mut members: Vec<(String, Node)> = Vec::new();
        let mut marks = XmlMarks::default();
        let mut names: Vec<&str> = Vec::new();
        // The parser compares attributes pairwise; a hostile tag has 100,000.
        for attribute in tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(|it| self.bad_attribute(&it))?;
            let name = attribute.key.into_inner();
            if !is_name(name) {
                let sentence = format!("`{}` is not the name of an attribute", shown(name));
                return Err(self.syntax(&sentence));
            }
            names.push(name);
            let value = self.attribute_value(&attribute.value)?;
            if !name.starts_with(marks::PREFIX) {
                members.push((format!("@{name}"), Node::Text(value)));
            } else if marks.take(name, &value).is_none() {
                let sentence = format!(
                    "the attribute `{}` is reserved, and `{}` not what it may say",
                    shown(name),
                    shown(&value)
                );
                return Err(self.error(FormatFault::XmlReserved(sentence)));
            }
        }
        if let Some(twice) = first_duplicate(&names) {
            let what = format!("the attribute `{}`", shown(names[twice]));
            return Err(self.error(FormatFault::Duplicate { what }));
        }
        Ok((members, marks))
    }

    /// An attribute's value with its references resolved; a line break in it counts as a blank.
    fn attribute_value(&self, raw: &str) -> Result<String, FormatError> {
        if raw.contains('<') {
            return Err(self.syntax("`<` in an attribute must be written as `&lt;`"));
        }
        self.check_legal(raw)?;
        let plain = |it: &str| it.replace("\r\n", " ").replace(['\t', '\n', '\r'], " ");
        let mut value = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some((before, after)) = rest.split_once('&') {
            value.push_str(&plain(before));
            let Some((name, after)) = after.split_once(';') else {
                return Err(self.syntax(AMPERSAND));
            };
            value.push(reference(name).map_err(|why| self.bad_reference(name, &why))?);
            rest = after;
        }
        value.push_str(&plain(rest));
        Ok(value)
    }

    fn add_text(&mut self, text: &str, written: Written) -> Result<(), FormatError> {
        self.check_legal(text)?;
        match self.open.last_mut() {
            Some(element) => element.content.add_text(text, written),
            None if written.is_significant(text) => {
                let sentence = match self.root {
                    Some(_) => "text stands after the end of the root element",
                    None => "text stands before the root element",
                };
                return Err(self.syntax(sentence));
            }
            None => {}
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), FormatError> {
        let Some(mut element) = self.open.pop() else {
            return Err(self.syntax("an element ends that was never begun"));
        };
        element.content.finish_text();
        let OpenElement { start, name, marks, content } = element;
        let value = content.into_value(&marks).map_err(|fault| self.error_at(start, fault))?;
        let Some(parent) = self.open.last_mut() else {
            let root = as_document(name, marks, value);
            if root.depth > MOST_DEPTH {
                return Err(self.error_at(start, FormatFault::TooDeep));
            }
            self.root = Some(root.node);
            return Ok(());
        };
        let is_stray =
            parent.marks.kind == Some(XmlKind::List) && (name != ITEM || marks.key.is_some());
        if is_stray || marks.is_bare_value {
            let sentence = "a reserved attribute stands where we never write it";
            return Err(self.error_at(start, FormatFault::XmlReserved(sentence.to_owned())));
        }
        let key = marks.key.unwrap_or(name);
        let role = if marks.is_only_item { Role::OnlyItem } else { Role::Element };
        parent.content.add(ElementPart { key, value, role });
        Ok(())
    }

    fn check_declaration(&self) -> Result<(), FormatError> {
        if self.start != 0 {
            return Err(self.syntax("`<?xml` may only stand at the very beginning"));
        }
        match declaration::problem(self.text) {
            None => Ok(()),
            Some(DeclarationProblem::Syntax(sentence)) => Err(self.syntax(sentence)),
            Some(DeclarationProblem::Refused(sentence)) => Err(self.refused(sentence)),
        }
    }

    /// Outside of the root element there are only comments and blanks.
    fn check_within(&self, what: &str) -> Result<(), FormatError> {
        match (self.open.is_empty(), &self.root) {
            (false, _) => Ok(()),
            (true, Some(_)) => {
                Err(self.syntax(&format!("{what} stands after the end of the root element")))
            }
            (true, None) => Err(self.syntax(&format!("{what} stands before the root element"))),
        }
    }

    fn end_of_text(mut self) -> Result<Node, FormatError> {
        if let Some(element) = self.open.pop() {
            let sentence = format!("`<{}>` is never closed", shown(&element.name));
            return Err(self.error_at(element.start, FormatFault::XmlSyntax(sentence)));
        }
        match self.root.take() {
            Some(root) => Ok(root),
            None => Err(self.syntax("there is no element")),
        }
    }

    fn check_legal(&self, text: &str) -> Result<(), FormatError> {
        match text.chars().find(|it| !is_legal(*it)) {
            Some(it) => {
                Err(self
                    .syntax(&format!("U+{:04X} is a character that XML may not hold", it as u32)))
            }
            None => Ok(()),
        }
    }

    fn bad_attribute(&self, error: &AttrError) -> FormatError {
        let (at, sentence) = match error {
            AttrError::ExpectedEq(at) => (at, "an attribute needs `=` and a value in quotes"),
            AttrError::ExpectedValue(at) => (at, "an attribute needs a value in quotes"),
            AttrError::UnquotedValue(at) => (at, "the value of an attribute stands in quotes"),
            AttrError::ExpectedQuote(at, _) => {
                (at, "the value of an attribute ends with its quote")
            }
            AttrError::Duplicated(at, _) => (at, "an attribute stands here a second time"),
        };
        self.error_at(self.start + 1 + at, FormatFault::XmlSyntax(sentence.to_owned()))
    }

    fn bad_reference(&self, name: &str, why: &str) -> FormatError {
        self.refused(&format!("`&{};` is not read: {why}", shown(name)))
    }

    fn syntax(&self, sentence: &str) -> FormatError {
        self.error(FormatFault::XmlSyntax(sentence.to_owned()))
    }

    fn refused(&self, sentence: &str) -> FormatError {
        self.error(FormatFault::XmlRefused(sentence.to_owned()))
    }

    fn error(&self, fault: FormatFault) -> FormatError {
        self.error_at(self.start, fault)
    }

    fn error_at(&self, offset: usize, fault: FormatFault) -> FormatError {
        FormatError::at(Format::Xml, self.text, offset, fault)
    }
}

/// True where there is text between a value's closing quote and the next attribute.
fn are_apart(attributes: &str) -> bool {
    let mut quote = None;
    let mut characters = attributes.chars().peekable();
    while let Some(it) = characters.next() {
        match quote {
            Some(open) if it == open => {
                quote = None;
                if characters.peek().is_some_and(|next| !is_blank(*next) && *next != '/') {
                    return false;
                }
            }
            None if matches!(it, '"' | '\'') => quote = Some(it),
            Some(_) | None => {}
        }
    }
    true
}

/// The meaning of the root element: its key and value, or the value alone.
fn as_document(name: String, marks: XmlMarks, value: AssembledValue) -> AssembledValue {
    let is_wrapper = name == ROOT && marks.key.is_none() && !marks.is_only_item;
    let is_whole = match &value.node {
        Node::Map(members) => is_wrapper && members.len() > 1,
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => false,
    };
    if marks.is_bare_value || is_whole {
        return value;
    }
    let AssembledValue { node, depth } = value;
    let (node, depth) =
        if marks.is_only_item { (Node::List(vec![node]), depth + 1) } else { (node, depth) };
    AssembledValue { node: Node::Map(vec![(marks.key.unwrap_or(name), node)]), depth: depth + 1 }
}
