//! The head of the next request as it was sent. If a request has both `Content-Length` and
//! `Transfer-Encoding`, hyper uses the latter, drops the former, and closes the connection
//! afterwards. A proxy in front may have used the other one (request smuggling), so Baton refuses
//! it, and for that has to see the bytes.

use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};

use crate::limits::ServerLimits;

/// Marks a request that states its length in two ways, or may do so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TwoLengths;

/// The bytes received since the connection began to wait for a request.
#[derive(Debug, Default)]
pub(super) struct SentHead(Vec<u8>);

/// More than most requests have; a longer buffer is freed after use.
const USUAL_BYTES: usize = 4096;

impl SentHead {
    pub(super) fn clear(&mut self) {
        self.0.clear();
        self.0.shrink_to(USUAL_BYTES);
    }

    /// Nothing is parsed here: most requests have no `Transfer-Encoding`.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let n_room = ServerLimits::HEAD_BYTES.saturating_sub(self.0.len());
        self.0.extend_from_slice(&bytes[..bytes.len().min(n_room)]);
    }

    /// Whether the request may have two lengths. The start of a pipelined request, sent before the
    /// previous response, was not seen; if it is chunked, it is not trusted.
    pub(super) fn may_have_two_lengths<B>(&self, request: &Request<B>) -> bool {
        request.headers().contains_key(TRANSFER_ENCODING) && !self.is_chunked_only(request)
    }

    /// Whether this is the complete head of that request, without `Content-Length`.
    fn is_chunked_only<B>(&self, request: &Request<B>) -> bool {
        // Every parser skips empty lines before a request.
        let mut lines = self.0.split_inclusive(|it| *it == b'\n').skip_while(|it| is_empty(it));
        let first = format!("{} {} ", request.method(), request.uri());
        if !lines.next().is_some_and(|it| it.starts_with(first.as_bytes())) {
            return false;
        }
        for line in lines {
            if is_empty(line) {
                return true;
            }
            let name = line.split(|it| *it == b':').next().unwrap_or_default();
            if name.trim_ascii().eq_ignore_ascii_case(CONTENT_LENGTH.as_str().as_bytes()) {
                return false;
            }
        }
        false
    }
}

fn is_empty(line: &[u8]) -> bool {
    matches!(line, b"\r\n" | b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(parts: &[&str], expected: bool) {
        let mut head = SentHead::default();
        for part in parts {
            head.add(part.as_bytes());
        }
        let request = Request::builder().method("POST").uri("/a?b=c");
        let request = request.header(TRANSFER_ENCODING, "chunked").body(()).unwrap();
        assert_eq!(head.may_have_two_lengths(&request), expected, "{parts:?}");
    }

    #[test]
    fn only_a_head_that_was_seen_whole_and_has_one_length_is_trusted() {
        let chunked = "Transfer-Encoding: chunked\r\n";
        check(&["POST /a?b=c HTTP/1.1\r\n", chunked, "\r\n"], false);
        check(&["POST /a?b=c HTTP/1.1\n", chunked, "\n"], false);
        check(&["\r\n\r\nPOST /a?b", "=c HTTP/1.1\r\n", chunked, "\r\n"], false);
        // In the body it is not a header.
        check(&["POST /a?b=c HTTP/1.1\r\n", chunked, "\r\nContent-Length: 1\r\n"], false);

        check(&["POST /a?b=c HTTP/1.1\r\nContent-Length: 1\r\n", chunked, "\r\n"], true);
        check(&["POST /a?b=c HTTP/1.1\r\n", chunked, "content-LENGTH:1\r\n\r\n"], true);
        check(&["POST /a?b=c HTTP/1.1\r\n", chunked, "Content-Length : 1\r\n\r\n"], true);
        // Another request's head, an incomplete one, or nothing.
        check(&["GET /a?b=c HTTP/1.1\r\n", chunked, "\r\n"], true);
        check(&["POST /a HTTP/1.1\r\n", chunked, "\r\n"], true);
        check(&["POST /a?b=c HTTP/1.1\r\n", chunked], true);
        check(&[], true);
    }

    #[test]
    fn a_request_that_is_not_chunked_has_one_length() {
        let request = Request::builder().uri("/").body(()).unwrap();
        assert!(!SentHead::default().may_have_two_lengths(&request));
    }
}
