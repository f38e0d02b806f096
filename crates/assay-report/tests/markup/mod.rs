//! A strict reader of Assay's pages: every tag closed, every attribute quoted, nothing unescaped.

/// A start tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) name: String,
    attributes: Vec<(String, String)>,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The names of the element and its attributes.
    pub(crate) fn shape(&self) -> String {
        let names = self.attributes.iter().map(|(name, _)| name.as_str());
        [self.name.as_str()].into_iter().chain(names).collect::<Vec<_>>().join(" ")
    }
}

const VOID: [&str; 5] = ["meta", "br", "wbr", "hr", "link"];

/// All elements in their order; an error where the page is not well formed.
pub(crate) fn elements(page: &str) -> Result<Vec<Element>, String> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>\n").ok_or("no document type")?;
    let (mut elements, mut open) = (Vec::new(), Vec::<String>::new());
    while let Some(start) = rest.find('<') {
        plain(&rest[..start])?;
        let end = rest[start..].find('>').ok_or("a tag without end")? + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop();
            if last.as_deref() != Some(name) {
                return Err(format!("</{name}> closes {last:?}"));
            }
            continue;
        }
        let element = element(tag.trim_end_matches('/'))?;
        if ["style", "script"].contains(&element.name.as_str()) {
            let close = format!("</{}>", element.name);
            let end = rest.find(&close).ok_or("an endless script")?;
            rest = &rest[end + close.len()..];
        } else if !tag.ends_with('/') && !VOID.contains(&element.name.as_str()) {
            open.push(element.name.clone());
        }
        elements.push(element);
    }
    plain(rest)?;
    if open.is_empty() { Ok(elements) } else { Err(format!("{open:?} stay open")) }
}

/// Text may hold no mark that was not escaped.
fn plain(text: &str) -> Result<(), String> {
    let bad =
        text.contains(['>', '"', '\'']) || text.split('&').skip(1).any(|entity| !is_entity(entity));
    if bad { Err(format!("unescaped: {text}")) } else { Ok(()) }
}

fn is_entity(rest: &str) -> bool {
    ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|known| rest.starts_with(known))
}

fn element(tag: &str) -> Result<Element, String> {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let lettered = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if !lettered || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(format!("<{tag}> is not an element"));
    }
    let mut attributes = Vec::new();
    while !rest.is_empty() {
        let (key, behind) = rest.split_once("=\"").ok_or_else(|| format!("{tag}: not quoted"))?;
        let (value, behind) = behind.split_once('"').ok_or_else(|| format!("{tag}: endless"))?;
        if !key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-') {
            return Err(format!("{key} is not an attribute"));
        }
        attributes.push((key.to_owned(), value.to_owned()));
        rest = behind.trim_start();
    }
    Ok(Element { name: name.to_owned(), attributes })
}

#[test]
fn the_reader_can_refuse() {
    let page = |body: &str| elements(&format!("<!DOCTYPE html>\n{body}"));
    assert!(page("<p a=\"1\">x<br></p>").is_ok());
    for bad in
        ["<p>", "</p>", "<p><b></p></b>", "<p a=1></p>", "<p>\"</p>", "<p>&x</p>", "<p", "<1></1>"]
    {
        assert!(page(bad).is_err(), "{bad}");
    }
}
