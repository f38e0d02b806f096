//! Markup that nobody's text can break: names are constants, and everything else is escaped on its
//! way in.

use crate::render::is_hidden;
use serde_json::Value;

/// Well-formed HTML or SVG.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Markup(String);

/// An element that is being written.
#[derive(Clone, Debug)]
pub(crate) struct Tag {
    /// A constant, so that no text can choose it.
    name: &'static str,
    /// Written and escaped.
    attributes: String,
}

/// Elements of HTML that have no content and no end tag.
const VOID: [&str; 5] = ["br", "hr", "meta", "link", "img"];

/// Replaces what has a meaning in markup, and what a reader cannot see: control characters, and
/// those that turn the direction of writing, by which a text could pretend to be another one.
fn escape(text: &str, into: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            '\n' | '\t' => into.push(letter),
            hidden if is_hidden(hidden) => into.push('\u{fffd}'),
            plain => into.push(plain),
        }
    }
}

/// Begins an element.
pub(crate) const fn tag(name: &'static str) -> Tag {
    Tag { name, attributes: String::new() }
}

/// Text of anybody.
pub(crate) fn text(text: &str) -> Markup {
    let mut escaped = String::with_capacity(text.len());
    escape(text, &mut escaped);
    Markup(escaped)
}

/// A path of anybody, which may be broken into lines after its separators.
pub(crate) fn path(path: &str) -> Markup {
    let breaks = path.split_inclusive('/').map(text);
    breaks.reduce(|one, next| one.and(constant("<wbr>")).and(next)).unwrap_or_default()
}

/// Markup that stands in this program.
pub(crate) fn constant(markup: &'static str) -> Markup {
    Markup(markup.to_owned())
}

/// Data for the page's own script. Inside a script element nothing is unescaped, so the characters
/// that could end it are written as JSON's own escapes.
pub(crate) fn data(id: &str, value: &Value) -> Markup {
    let json =
        value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let open = tag("script").attribute("type", "application/json").attribute("id", id);
    open.body(Markup(json))
}

impl Markup {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds what follows.
    pub(crate) fn push(&mut self, next: Self) {
        if self.0.is_empty() {
            *self = next;
        } else {
            self.0.push_str(&next.0);
        }
    }

    /// This and what follows.
    pub(crate) fn and(mut self, next: Self) -> Self {
        self.push(next);
        self
    }

    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The written form.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl FromIterator<Markup> for Markup {
    fn from_iter<I: IntoIterator<Item = Self>>(parts: I) -> Self {
        parts.into_iter().fold(Self::new(), Self::and)
    }
}

impl Tag {
    /// Adds an attribute.
    pub(crate) fn attribute(mut self, name: &'static str, value: &str) -> Self {
        self.attributes.push(' ');
        self.attributes.push_str(name);
        self.attributes.push_str("=\"");
        escape(value, &mut self.attributes);
        self.attributes.push('"');
        self
    }

    /// Adds a number as attribute, to a tenth.
    pub(crate) fn number(self, name: &'static str, value: f64) -> Self {
        let mut shown = String::new();
        push_number(&mut shown, value);
        self.attribute(name, &shown)
    }

    /// Adds a class.
    pub(crate) fn class(self, class: &str) -> Self {
        self.attribute("class", class)
    }

    /// Ends the element with its content.
    pub(crate) fn body(self, content: Markup) -> Markup {
        let (name, attributes, Markup(content)) = (self.name, self.attributes, content);
        Markup(format!("<{name}{attributes}>{content}</{name}>"))
    }

    /// Ends the element with text of anybody.
    pub(crate) fn text(self, content: &str) -> Markup {
        self.body(text(content))
    }

    /// Ends the element with several parts.
    pub(crate) fn all(self, parts: impl IntoIterator<Item = Markup>) -> Markup {
        self.body(parts.into_iter().collect())
    }

    /// Ends an element without content.
    pub(crate) fn empty(self) -> Markup {
        let (name, attributes) = (self.name, self.attributes);
        if VOID.contains(&name) {
            return Markup(format!("<{name}{attributes}>"));
        }
        Markup(format!("<{name}{attributes}/>"))
    }
}

/// Writes a number to a tenth, as short as possible: `12.5`, `3`, `-0.1`.
pub(crate) fn push_number(into: &mut String, value: f64) {
    let shown = format!("{value:.1}");
    let short = shown.strip_suffix(".0").unwrap_or(&shown);
    into.push_str(if short == "-0" { "0" } else { short });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn elements_nest() {
        let list = tag("ul").all(["a", "b"].map(|item| tag("li").class("x").text(item)));
        assert_eq!(list.into_string(), "<ul><li class=\"x\">a</li><li class=\"x\">b</li></ul>");
        assert_eq!(tag("br").empty().into_string(), "<br>");
        assert_eq!(tag("path").number("x", -0.04).empty().into_string(), "<path x=\"0\"/>");
    }

    #[test]
    fn a_text_cannot_turn_the_direction_of_reading() {
        assert_eq!(text("a\u{202e}b\u{7}\n").into_string(), "a\u{fffd}b\u{fffd}\n");
    }

    #[test]
    fn data_cannot_end_its_script() {
        let script = data("d", &json!({"a": "</script><script>alert(1)//&"})).into_string();
        assert_eq!(script.matches('<').count(), 2);
        assert!(script.contains(r"\u003c/script\u003e"));
    }

    proptest! {
        #[test]
        fn no_text_becomes_markup(content in "\\PC*", value in "\\PC*") {
            let element = tag("p").attribute("title", &value).text(&content).into_string();
            let inner = element.strip_prefix("<p title=\"").and_then(|rest| rest.strip_suffix("</p>")).unwrap();
            let (attribute, body) = inner.split_once("\">").unwrap();
            for part in [attribute, body] {
                prop_assert!(!part.contains(['<', '>', '"', '\'']), "{part}");
            }
        }

        #[test]
        fn json_survives(content in "\\PC*") {
            let script = data("d", &json!([content])).into_string();
            let start = script.find('[').unwrap();
            let end = script.rfind(']').unwrap();
            let back: Vec<String> = serde_json::from_str(&script[start..=end]).unwrap();
            prop_assert_eq!(&back[0], &content);
        }
    }
}
