//! When users come and go.

use serde::Deserialize;

/// Up or down to `users`, at an even pace within `seconds`.
#[derive(Deserialize)]
pub struct Stage {
    pub users: usize,
    pub seconds: f64,
}

/// From when to when a user is there, in seconds from the beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stay {
    pub from: f64,
    pub to: f64,
}

/// Each user's stays, in order. Whoever came last leaves first, so that users dealt out to requests in turn stay equal
/// in number at any time.
pub fn stays(stages: &[Stage]) -> Vec<Vec<Stay>> {
    let most = stages.iter().map(|stage| stage.users).max().unwrap_or(0);
    let mut found = vec![Vec::new(); most];
    let mut came = vec![0.0; most];
    let (mut there, mut begins) = (0, 0.0);
    for stage in stages {
        let moves = stage.users.abs_diff(there) as f64;
        let when = |number: usize| begins + stage.seconds * number as f64 / moves;
        for user in there..stage.users {
            came[user] = when(user - there);
        }
        for user in stage.users..there {
            found[user].push(Stay { from: came[user], to: when(there - user) });
        }
        there = stage.users;
        begins += stage.seconds;
    }
    for user in 0..there {
        found[user].push(Stay { from: came[user], to: begins });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stages: &[(usize, f64)]) -> Vec<Vec<(f64, f64)>> {
        let stages: Vec<_> = stages.iter().map(|&(users, seconds)| Stage { users, seconds }).collect();
        stays(&stages).iter().map(|user| user.iter().map(|stay| (stay.from, stay.to)).collect()).collect()
    }

    #[test]
    fn users_come_and_go_at_an_even_pace_and_the_last_leaves_first() {
        assert_eq!(of(&[(4, 8.0), (0, 4.0)]), [[(0.0, 12.0)], [(2.0, 11.0)], [(4.0, 10.0)], [(6.0, 9.0)]]);
    }

    #[test]
    fn all_come_at_once_in_no_time_and_stay_until_the_end() {
        assert_eq!(of(&[(2, 0.0), (2, 5.0)]), [[(0.0, 5.0)], [(0.0, 5.0)]]);
    }

    #[test]
    fn who_left_comes_again() {
        assert_eq!(of(&[(1, 1.0), (0, 1.0), (1, 2.0)]), [[(0.0, 2.0), (2.0, 4.0)]]);
    }
}
