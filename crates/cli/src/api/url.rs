//! The address of a server, and where it comes from.

use std::fmt;
use std::path::PathBuf;

use http::Uri;
use http::header::HeaderValue;

/// `http://HOST[:PORT]`, and nothing after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    host: String,
    port: u16,
}

/// The source of a server's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UrlSource {
    Flag,
    Environment,
    /// A process of ours has started it, or found it with the data.
    Started,
    /// The lock file of this data folder, with the server's instance id: another server may have
    /// its address by now.
    Lock {
        data: PathBuf,
        instance: HeaderValue,
    },
    /// The list of nodes in the project's database, with the node's instance id.
    Node {
        instance: HeaderValue,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadUrl {
    #[error("`https://` is not supported yet; a Baton listens with `http://` on its own machine")]
    Https,
    #[error("say where it listens, as in `http://127.0.0.1:4180`")]
    Odd,
    #[error("a Baton answers at the top of its address; leave out what comes after the port")]
    Path,
}

impl Url {
    pub(crate) fn parse(text: &str) -> Result<Self, BadUrl> {
        let uri: Uri = text.parse().map_err(|_| BadUrl::Odd)?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(BadUrl::Https),
            Some(_) | None => return Err(BadUrl::Odd),
        }
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(BadUrl::Path);
        }
        let authority = uri.authority().filter(|it| !it.as_str().contains('@'));
        let host = authority.map(|it| it.host()).filter(|it| !it.is_empty()).ok_or(BadUrl::Odd)?;
        // The parser drops a port that is no number, rather than refuse it.
        let port = match authority.and_then(|it| it.as_str().rsplit_once(':')) {
            Some((_, port)) if !port.ends_with(']') => port.parse().map_err(|_| BadUrl::Odd)?,
            Some(_) | None => 80,
        };
        Ok(Self { host: host.to_owned(), port })
    }

    /// The address to connect to.
    pub(super) fn address(&self) -> (&str, u16) {
        (self.host.trim_start_matches('[').trim_end_matches(']'), self.port)
    }

    /// `HOST:PORT`, for the `Host` header.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

impl UrlSource {
    /// The expected server instance, where known.
    pub(super) fn instance(&self) -> Option<&HeaderValue> {
        match self {
            Self::Flag | Self::Environment | Self::Started => None,
            Self::Lock { instance, .. } | Self::Node { instance } => Some(instance),
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}:{}", self.host, self.port)
    }
}

impl fmt::Display for UrlSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("named by `--server`"),
            Self::Started => f.write_str("of this project"),
            Self::Environment => f.write_str("named by `BATON_URL`"),
            Self::Lock { data, .. } => write!(f, "named by the lock file in `{}`", data.display()),
            Self::Node { .. } => f.write_str("named by the project's database"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_a_port() {
        for (text, expected) in [
            ("http://127.0.0.1:4180", Ok("http://127.0.0.1:4180")),
            ("http://127.0.0.1:4180/", Ok("http://127.0.0.1:4180")),
            ("http://localhost", Ok("http://localhost:80")),
            ("http://[::1]:4180", Ok("http://[::1]:4180")),
            ("http://[::1]", Ok("http://[::1]:80")),
            ("https://localhost:4180", Err(BadUrl::Https)),
            ("http://localhost:4180/baton", Err(BadUrl::Path)),
            ("http://localhost:4180/?a=b", Err(BadUrl::Path)),
            ("localhost:4180", Err(BadUrl::Odd)),
            ("ftp://localhost", Err(BadUrl::Odd)),
            ("http://", Err(BadUrl::Odd)),
            ("http://localhost:99999", Err(BadUrl::Odd)),
            ("http://eve@localhost:4180", Err(BadUrl::Odd)),
            ("pid 12", Err(BadUrl::Odd)),
            ("", Err(BadUrl::Odd)),
        ] {
            let read = Url::parse(text).map(|it| it.to_string());
            assert_eq!(read.as_deref(), expected.as_deref(), "{text}");
        }
        assert_eq!(Url::parse("http://[::1]:7").unwrap().address(), ("::1", 7));
    }
}
