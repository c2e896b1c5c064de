//! Tests for the guarantees of this backend alone. `baton-store-tests` covers every store.

mod damage;
mod full;
mod groups;
mod identity;
mod lost;
mod plans;
mod states;
mod upgrade;
mod view;
