//! A store that forgets, for tests and demos. It passes the same suite as the others.

#[derive(Debug, Default)]
pub struct MemoryStore {}
