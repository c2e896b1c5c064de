//! What only this backend promises. What every store must do is in `baton-store-tests`.

mod damage;
mod groups;
mod plans;
mod states;
mod upgrade;
mod view;
