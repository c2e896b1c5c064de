//! Text that agents and people wrote. It has no `Display`, so that only a fence can print it.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Object, ObjectRepr, Value};

use super::fence::one_line;

#[derive(Clone)]
pub(super) struct UntrustedText(Arc<str>);

impl UntrustedText {
    /// For the fence, and for code that reads the text without printing it.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// The text for one line among Baton's own, such as a branch.
    pub(super) fn one_line(&self, most_chars: usize) -> String {
        one_line(&self.0, most_chars)
    }
}

impl<T: Into<Arc<str>>> From<T> for UntrustedText {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for UntrustedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[untrusted text outside of a fence]")
    }
}

/// For templates a value without content: no operation on it reveals the text.
impl Object for UntrustedText {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl From<UntrustedText> for Value {
    fn from(text: UntrustedText) -> Self {
        Value::from_object(text)
    }
}
