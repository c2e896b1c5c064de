//! What only this backend promises. What every store must do is in `baton-store-tests`.

mod damage;
mod full;
mod groups;
mod identity;
mod lost;
mod plans;
mod states;
mod upgrade;
mod view;
