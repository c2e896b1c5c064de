//! One request: names in its path may hold any character.

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::{Method, Request};
use serde::Serialize;

use crate::args::{Which, WriteArgs};
use crate::failure::Failure;

#[derive(Debug, Clone)]
pub(crate) struct Ask {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Ask {
    pub(crate) fn get<'a>(path: impl IntoIterator<Item = &'a str>) -> Self {
        Self::new(Method::GET, path, String::new())
    }

    pub(crate) fn post<'a>(path: impl IntoIterator<Item = &'a str>, body: &impl Serialize) -> Self {
        Self::new(Method::POST, path, encode(body))
    }

    /// A body that is not JSON.
    pub(crate) fn post_text<'a>(
        path: impl IntoIterator<Item = &'a str>,
        media_type: &str,
        text: String,
    ) -> Self {
        Self::new(Method::POST, path, text).header("content-type", media_type)
    }

    pub(crate) fn put<'a>(path: impl IntoIterator<Item = &'a str>, body: &impl Serialize) -> Self {
        Self::new(Method::PUT, path, encode(body))
    }

    /// A command on a handoff, by any of its names.
    pub(crate) fn on(which: &Which, verb: &str, body: &impl Serialize) -> Self {
        Self::post(["handoffs", &which.handoff, verb], body).of(which)
    }

    /// A label is unique within a run only.
    pub(crate) fn of(self, which: &Which) -> Self {
        self.with_some("run", which.run.as_deref())
    }

    /// Options of every command that changes something.
    pub(crate) fn writing(mut self, write: &WriteArgs) -> Self {
        if write.dry_run {
            self = self.with("dryRun", "true");
        }
        match &write.key {
            Some(key) => self.header("idempotency-key", key),
            None => self,
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    pub(crate) fn with_some(self, name: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn request(&self) -> Result<Request<Bytes>, Failure> {
        let mut request = Request::new(Bytes::from(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self
            .address()
            .parse()
            .map_err(|error| Failure::Usage(format!("this is too long to be sent: {error}")))?;
        for (name, value) in &self.headers {
            let value = HeaderValue::from_str(value).map_err(|_| {
                Failure::Usage(format!("`{value}` cannot be sent: use plain characters"))
            })?;
            request.headers_mut().insert(HeaderName::from_static(name), value);
        }
        Ok(request)
    }

    fn new<'a>(method: Method, path: impl IntoIterator<Item = &'a str>, body: String) -> Self {
        let mut address = "/api/v1".to_owned();
        for name in path {
            address.push('/');
            address += &encoded(name);
        }
        Self { method, path: address, query: Vec::new(), headers: Vec::new(), body }
    }

    fn address(&self) -> String {
        let mut address = self.path.clone();
        for (index, (name, value)) in self.query.iter().enumerate() {
            address.push(if index == 0 { '?' } else { '&' });
            address += &format!("{name}={}", encoded(value));
        }
        address
    }
}

fn encode(body: &impl Serialize) -> String {
    match serde_json::to_string(body) {
        Ok(body) => body,
        Err(error) => unreachable!("our own types always encode: {error}"),
    }
}

/// Percent-encodes everything but RFC 3986's unreserved characters.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded += &format!("%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_an_address_as_they_are() {
        for (name, address) in [
            ("12", "/api/v1/runs/12"),
            ("v0.1:1.1.1", "/api/v1/runs/v0.1%3A1.1.1"),
            ("owner/repo#123", "/api/v1/runs/owner%2Frepo%23123"),
            ("a b?c=d&e%f", "/api/v1/runs/a%20b%3Fc%3Dd%26e%25f"),
            ("Straße 🚀", "/api/v1/runs/Stra%C3%9Fe%20%F0%9F%9A%80"),
            ("..", "/api/v1/runs/.."),
        ] {
            assert_eq!(Ask::get(["runs", name]).request().unwrap().uri(), address);
        }
    }

    #[test]
    fn a_query_and_what_every_write_may_say() {
        let which = Which { handoff: "HO-001".to_owned(), run: Some("o/r#1".to_owned()) };
        let write = WriteArgs { dry_run: true, key: Some("k 1".to_owned()) };
        let request = Ask::on(&which, "accept", &()).writing(&write).request().unwrap();
        assert_eq!(request.uri(), "/api/v1/handoffs/HO-001/accept?run=o%2Fr%231&dryRun=true");
        assert_eq!(request.headers()["idempotency-key"], "k 1");
        let odd = WriteArgs { dry_run: false, key: Some("k\n".to_owned()) };
        assert!(Ask::on(&which, "accept", &()).writing(&odd).request().is_err());
    }
}
