//! Baton over HTTP, from the outside: a server on a free port, and whoever calls it.

#[cfg(test)]
mod client;
#[cfg(test)]
mod events;
#[cfg(test)]
mod page;
