//! The colours of the page's style sheet, for pictures that have none of their own.

use crate::chart::scene::Ink;
use std::collections::BTreeMap;

const STYLE: &str = include_str!("html/style.css");

/// Colours by the names of their variables, in the light.
pub(super) struct Palette(BTreeMap<&'static str, u32>);

impl Palette {
    /// What the style sheet says before its first condition, which is the dark.
    pub(super) fn light() -> Self {
        let light = STYLE.split("@media").next().unwrap_or_default();
        let declared = light.split([';', '{']).filter_map(|declared| declared.split_once(": #"));
        let colours = declared.filter_map(|(name, hex)| {
            Some((name.trim().strip_prefix("--")?, u32::from_str_radix(hex.trim(), 16).ok()?))
        });
        Self(colours.collect())
    }

    /// Red, green and blue of an ink, a byte each; black of none that the style sheet knows.
    pub(super) fn colour(&self, ink: Ink) -> u32 {
        self.0.get(variable(ink).as_str()).copied().unwrap_or_default()
    }
}

/// The variable of the style sheet that holds the colour of an ink.
fn variable(ink: Ink) -> String {
    let name = match ink {
        Ink::Axis => "soft",
        Ink::Grid | Ink::Time => "grid",
        Ink::Label => "ink",
        Ink::Limit => "limit",
        Ink::Found | Ink::Event => "found",
        Ink::Read => "read",
        Ink::Write => "write",
        Ink::Sync => "sync",
        Ink::Mix => "mix",
        Ink::Heat(level) => return format!("h{}", level.clamp(1, 8)),
        Ink::Class(place) => return format!("w{}", place.min(7)),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ink_has_a_colour_in_the_style_sheet() {
        let palette = Palette::light();
        let plain = [
            Ink::Axis,
            Ink::Grid,
            Ink::Label,
            Ink::Limit,
            Ink::Found,
            Ink::Read,
            Ink::Write,
            Ink::Sync,
            Ink::Mix,
        ];
        let of_places = (0..10).flat_map(|place| [Ink::Heat(place), Ink::Class(place)]);
        for ink in plain.into_iter().chain(of_places) {
            assert!(palette.0.contains_key(variable(ink).as_str()), "{ink:?}");
        }
        assert_eq!(palette.colour(Ink::Read), 0x0b_62_a8);
    }
}
