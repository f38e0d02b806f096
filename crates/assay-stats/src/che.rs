//! The share of requests that a least-recently-used cache answers, by Che's approximation.
//!
//! An object stays for the characteristic time t after its last request, the same for all objects:
//! with requests for object i at rate `r_i` it is there with 1 - e^{-r_i t}, and t is that at which
//! as many are there as fit. (H. Che, Y. Tung and Z. Wang, IEEE JSAC 20(7), 2002; why it is so
//! good: C. Fricker, P. Robert and J. Roberts, ITC 24, 2012.)

use crate::root;

/// Objects that are requested equally often: the blocks of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Popularity {
    /// How many there are.
    pub n: f64,
    /// Requests a second for all of them together.
    pub requests_per_s: f64,
}

impl Popularity {
    /// How many of them are in the cache whose characteristic time is `time_s`.
    fn held(&self, time_s: f64) -> f64 {
        -self.n * (-self.requests_per_s / self.n * time_s).exp_m1()
    }
}

/// Share of requests that a cache of `capacity` objects answers, 0..=1; `None` where nothing is
/// asked for.
pub fn hit_share(groups: &[Popularity], capacity: f64) -> Option<f64> {
    let asked: Vec<&Popularity> =
        groups.iter().filter(|group| group.n > 0.0 && group.requests_per_s > 0.0).collect();
    let requests: f64 = asked.iter().map(|group| group.requests_per_s).sum();
    let objects: f64 = asked.iter().map(|group| group.n).sum();
    if asked.is_empty() {
        return None;
    }
    if capacity >= objects {
        return Some(1.0);
    }
    let held = |time_s: f64| asked.iter().map(|group| group.held(time_s)).sum::<f64>();
    let mut most_s = objects / requests;
    while held(most_s) < capacity && most_s.is_finite() {
        most_s *= 2.0;
    }
    let time_s = root::increasing(0.0, most_s, |time_s| held(time_s) - capacity);
    let hits = asked.iter().map(|group| group.held(time_s) / group.n * group.requests_per_s);
    Some(hits.sum::<f64>() / requests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use assay_model::number::{index_of, real};
    use std::collections::VecDeque;

    /// The share of hits of a played least-recently-used cache.
    fn played(groups: &[(u64, f64)], capacity: usize) -> f64 {
        let mut random = Random::new(9);
        let mut cache: VecDeque<u64> = VecDeque::new();
        let (mut hits, mut asked) = (0.0, 0.0);
        for request in 0..60_000 {
            let mut draw = random.unit();
            let mut first = 0;
            let mut object = 0;
            for (objects, share) in groups {
                if draw < *share {
                    object = first + random.below(*objects);
                    break;
                }
                draw -= share;
                first += objects;
            }
            let found = cache.iter().position(|held| *held == object);
            if request >= 10_000 {
                asked += 1.0;
                hits += f64::from(u8::from(found.is_some()));
            }
            if let Some(place) = found {
                cache.remove(place);
            }
            cache.push_front(object);
            cache.truncate(capacity);
        }
        hits / asked
    }

    #[test]
    fn a_played_cache_hits_as_often() {
        let groups = [(100, 0.6), (400, 0.3), (2000, 0.1)];
        let popularity = groups.map(|(objects, share)| Popularity {
            n: real(objects),
            requests_per_s: 1000.0 * share,
        });
        for capacity in [50, 200, 600] {
            let found = hit_share(&popularity, real(capacity)).unwrap();
            let truth = played(&groups, index_of(capacity));
            assert!((found - truth).abs() < 0.012, "{capacity}: {found} {truth}");
        }
    }

    #[test]
    fn equal_blocks_are_hit_by_their_share_and_nothing_asks_for_nothing() {
        let one = [Popularity { n: 1000.0, requests_per_s: 7.0 }];
        assert!((hit_share(&one, 250.0).unwrap() - 0.25).abs() < 1e-9);
        assert_eq!(hit_share(&one, 1000.0), Some(1.0));
        assert_eq!(hit_share(&[Popularity { n: 9.0, requests_per_s: 0.0 }], 1.0), None);
    }
}
