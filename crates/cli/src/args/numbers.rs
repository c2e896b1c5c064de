//! Numbers and addresses as they are typed: a refusal says what is taken, with an example.

use std::net::SocketAddr;
use std::ops::RangeInclusive;

/// Any number that fits.
pub(super) const ANY: RangeInclusive<u64> = 0..=u64::MAX;

/// Reads a whole number within bounds.
pub(super) fn whole_number<T: TryFrom<u64>>(
    numbers: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |typed| {
        let number = typed.parse().ok().filter(|it| numbers.contains(it));
        number.and_then(|it| T::try_from(it).ok()).ok_or_else(|| {
            if numbers == ANY {
                return "give a whole number, such as 12".to_owned();
            }
            format!("give a whole number from {} to {}", numbers.start(), numbers.end())
        })
    }
}

/// Reads an address to listen on.
pub(super) fn listen_address(typed: &str) -> Result<SocketAddr, &'static str> {
    typed.parse().map_err(|_| "give an address and a port, such as 127.0.0.1:4180")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_within_the_bounds_is_taken_and_every_other_word_named() {
        let limit = whole_number::<u32>(1..=500);
        assert_eq!(limit("500"), Ok(500));
        for typed in ["0", "501", "-1", "1.5", "many", ""] {
            assert_eq!(
                limit(typed),
                Err("give a whole number from 1 to 500".to_owned()),
                "{typed}"
            );
        }
        let fence = whole_number::<u32>(ANY);
        assert_eq!(fence("0"), Ok(0));
        let too_large = (u64::from(u32::MAX) + 1).to_string();
        for typed in ["x", too_large.as_str()] {
            assert_eq!(fence(typed), Err("give a whole number, such as 12".to_owned()), "{typed}");
        }
    }

    #[test]
    fn an_address_has_a_port() {
        assert!(listen_address("127.0.0.1:0").is_ok());
        for typed in ["nonsense", "4180", "127.0.0.1", "localhost:4180"] {
            assert!(listen_address(typed).is_err(), "{typed}");
        }
    }
}
