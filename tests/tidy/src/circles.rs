//! Files of one crate that need each other: what a reader must understand before a file is found
//! below it, never in a circle.
//!
//! A file needs another one when its code names something that is defined there, by whatever
//! re-exports the name came. A declaration `mod`, a re-export and tests need nothing.

use crate::{Finding, RustFile};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::UseTree;

/// Re-exports are followed this far.
const RENAMES_MAX: usize = 16;

/// A module's path from the root of its crate.
type Path = Vec<String>;

/// One file as the module that it is.
struct Module<'a> {
    file: &'a RustFile,
    /// Names of items that are defined in it.
    items: BTreeSet<String>,
    /// What names stand for that are used from elsewhere, as they are written.
    aliases: BTreeMap<String, Path>,
    /// Modules whose every name is used.
    globs: Vec<Path>,
}

/// The modules of one crate.
type Modules<'a> = BTreeMap<Path, Module<'a>>;

/// What each module needs: other modules, each with a name that is defined there.
type Needs = BTreeMap<Path, BTreeMap<Path, String>>;

/// Every circle of files in every crate.
pub fn check(files: &[RustFile]) -> Vec<Finding> {
    let mut crates: BTreeMap<String, Modules<'_>> = BTreeMap::new();
    for file in files {
        if let Some((root, path)) = place(&file.path) {
            crates.entry(root).or_default().insert(path, module(file));
        }
    }
    crates.values().flat_map(check_crate).collect()
}

fn check_crate(modules: &Modules<'_>) -> Vec<Finding> {
    let needs: Needs =
        modules.keys().map(|path| (path.clone(), needed_by(path, modules))).collect();
    circles(&needs).iter().map(|circle| finding(circle, &needs, modules)).collect()
}

fn finding(circle: &[Path], needs: &Needs, modules: &Modules<'_>) -> Finding {
    let shown = |path: &Path| path.last().map_or("lib", String::as_str).to_owned();
    let mut arrows = Vec::new();
    for path in circle {
        for (target, name) in needs[path].iter().filter(|(target, _)| circle.contains(target)) {
            arrows.push(format!("{} needs {} for {name}", shown(path), shown(target)));
        }
    }
    Finding::new(&modules[&circle[0]].file.path, format!("a circle: {}", arrows.join("; ")))
}

/// The folder of the crate's sources, and the module that a file is; nothing for tests, examples
/// and programs.
fn place(path: &str) -> Option<(String, Path)> {
    let (root, inside) = path.split_once("/src/")?;
    let mut parts: Path = inside.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    let last = parts.last().map(String::as_str);
    if matches!(last, Some("lib" | "main" | "mod")) {
        parts.pop();
    }
    Some((root.to_owned(), parts))
}

fn module(file: &RustFile) -> Module<'_> {
    let mut module =
        Module { file, items: BTreeSet::new(), aliases: BTreeMap::new(), globs: Vec::new() };
    for item in &file.syntax.items {
        match item {
            syn::Item::Use(item) if !file.is_test(item.use_token.span.start().line) => {
                module.add_use(&mut Vec::new(), &item.tree);
            }
            item => module.items.extend(defined(item)),
        }
    }
    module
}

/// The name that an item gives to what it defines.
fn defined(item: &syn::Item) -> Option<String> {
    let name = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

impl Module<'_> {
    fn add_use(&mut self, before: &mut Path, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.add_use(before, &path.tree);
                before.pop();
            }
            UseTree::Name(name) => self.add_alias(before, &name.ident, &name.ident),
            UseTree::Rename(name) => self.add_alias(before, &name.ident, &name.rename),
            UseTree::Glob(_) => self.globs.push(before.clone()),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.add_use(before, tree));
            }
        }
    }

    fn add_alias(&mut self, before: &Path, name: &syn::Ident, known_as: &syn::Ident) {
        let mut path = before.clone();
        if name == "self" {
            // `use a::{self}` makes `a` known by its own name.
            let alias = before.last().cloned().filter(|_| known_as == "self");
            self.aliases.insert(alias.unwrap_or_else(|| known_as.to_string()), path);
            return;
        }
        path.push(name.to_string());
        self.aliases.insert(known_as.to_string(), path);
    }
}

/// The other modules of the crate that define what this one names.
fn needed_by(path: &Path, modules: &Modules<'_>) -> BTreeMap<Path, String> {
    let module = &modules[path];
    let mut written = BTreeSet::new();
    collect_paths(module.file.tokens.clone(), module.file, &mut written);
    let found = written.iter().filter_map(|name| {
        let target = resolve(path, name, modules, RENAMES_MAX)?;
        Some((target, name.last()?.clone()))
    });
    found.filter(|(target, _)| target != path).collect()
}

/// All paths of the code outside of tests; a field or a method after a point is none.
fn collect_paths(tokens: TokenStream, file: &RustFile, paths: &mut BTreeSet<Path>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => collect_paths(group.stream(), file, paths),
            TokenTree::Ident(word) if word == "use" => at = end_of_use(&tokens, at),
            TokenTree::Ident(word) if !file.is_test(word.span().start().line) => {
                let (path, last) = path_from(&tokens, at);
                if at == 0 || !is_mark(&tokens[at - 1], '.') {
                    paths.insert(path);
                }
                at = last;
            }
            _ => {}
        }
        at += 1;
    }
}

fn end_of_use(tokens: &[TokenTree], at: usize) -> usize {
    let end = tokens[at..].iter().position(|token| is_mark(token, ';'));
    end.map_or(at, |end| at + end)
}

/// The words that `::` joins from here on, and the place of the last one.
fn path_from(tokens: &[TokenTree], at: usize) -> (Path, usize) {
    let (mut path, mut last) = (vec![tokens[at].to_string()], at);
    while let Some([first, second, TokenTree::Ident(word)]) = tokens.get(last + 1..last + 4) {
        if !is_mark(first, ':') || !is_mark(second, ':') {
            break;
        }
        path.push(word.to_string());
        last += 3;
    }
    (path, last)
}

fn is_mark(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == wanted)
}

/// The module that defines what a path names when it is written in the module `from`.
fn resolve(from: &Path, path: &[String], modules: &Modules<'_>, renames: usize) -> Option<Path> {
    let (first, rest) = path.split_first()?;
    let mut parent = from.clone();
    match first.as_str() {
        "crate" => item_in(&Vec::new(), rest, modules, renames),
        "self" => item_in(from, rest, modules, renames),
        "super" => {
            parent.pop()?;
            match rest.first().map(String::as_str) {
                Some("super") => resolve(&parent, rest, modules, renames),
                _ => item_in(&parent, rest, modules, renames),
            }
        }
        _ => item_in(from, path, modules, renames),
    }
}

/// The same for a path below a module: an item of it, something in a child of it, or what it uses
/// from elsewhere.
fn item_in(at: &Path, path: &[String], modules: &Modules<'_>, renames: usize) -> Option<Path> {
    let (first, rest) = path.split_first()?;
    let module = modules.get(at)?;
    let mut child = at.clone();
    child.push(first.clone());
    // A module and an item may have one name; what more of the path follows is in the module.
    let is_module = modules.contains_key(&child) && !rest.is_empty();
    if module.items.contains(first) && !is_module {
        return Some(at.clone());
    }
    if modules.contains_key(&child) {
        return item_in(&child, rest, modules, renames);
    }
    let renames = renames.checked_sub(1)?;
    if let Some(alias) = module.aliases.get(first) {
        let whole: Path = alias.iter().chain(rest).cloned().collect();
        return resolve(at, &whole, modules, renames).filter(|_| alias != path);
    }
    let mut globs = module.globs.iter();
    globs.find_map(|glob| {
        let whole: Path = glob.iter().chain(path).cloned().collect();
        resolve(at, &whole, modules, renames)
    })
}

/// Groups of two or more nodes each of which leads to all others of its group.
fn circles(needs: &Needs) -> Vec<Vec<Path>> {
    let reached: BTreeMap<&Path, BTreeSet<Path>> =
        needs.keys().map(|path| (path, reach(path, needs))).collect();
    let mut circles = BTreeSet::new();
    for (path, far) in &reached {
        let circle: Vec<Path> =
            far.iter().filter(|other| reached[other].contains(*path)).cloned().collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

/// All that a node leads to.
fn reach(from: &Path, needs: &Needs) -> BTreeSet<Path> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from.clone()]);
    while let Some(path) = next.pop() {
        let new = needs.get(&path).into_iter().flat_map(BTreeMap::keys);
        let new: Vec<Path> = new.filter(|path| reached.insert((*path).clone())).cloned().collect();
        next.extend(new);
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let parsed = files.iter().map(|(path, text)| {
            RustFile::parse(&Source::new(&format!("crates/a/src/{path}"), text)).unwrap()
        });
        check(&parsed.collect::<Vec<_>>()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_leads_down_only_passes() {
        let lib = "mod b;\nmod c;\npub use b::B;\nfn a() { b::new(); }";
        let b = "use crate::c::C;\npub struct B(C);\npub fn new() {}";
        let c = "pub struct C;\n#[cfg(test)]\nmod tests { use crate::b::B; fn t(_: B) {} }";
        assert_eq!(findings(&[("lib.rs", lib), ("b.rs", b), ("c.rs", c)]), Vec::<String>::new());
    }

    #[test]
    fn two_files_that_name_each_other_are_found() {
        let b = "use super::c::C;\npub struct B(C);";
        let c = "pub enum C { Of(Box<crate::b::B>) }";
        let found = findings(&[("lib.rs", "mod b; mod c;"), ("b.rs", b), ("c.rs", c)]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("crates/a/src/b.rs: a circle: b needs c for C; c needs b for B")
        );
    }

    #[test]
    fn a_child_that_needs_its_parent_and_is_needed_by_it_is_found() {
        let parent = "mod child;\npub struct P;\nfn f() { child::g(); }";
        let child = "use super::P;\npub fn g() -> P { P }";
        let files = [("lib.rs", "mod p;"), ("p.rs", parent), ("p/child.rs", child)];
        assert_eq!(findings(&files).len(), 1);
        let unneeded =
            [("lib.rs", "mod p;"), ("p.rs", "mod child;\npub struct P;"), ("p/child.rs", child)];
        assert!(findings(&unneeded).is_empty());
    }

    #[test]
    fn a_name_is_followed_through_re_exports_and_globs() {
        let lib = "mod b;\nmod c;\npub use c::C as D;\n";
        let b = "use crate::*;\npub struct B(D);";
        let c = "pub struct C;\nfn f() -> crate::b::B { todo!() }";
        assert_eq!(findings(&[("lib.rs", lib), ("b.rs", b), ("c.rs", c)]).len(), 1);
    }

    #[test]
    fn a_method_of_the_same_name_needs_nothing() {
        let b = "use crate::c::{self, C};\npub fn run(x: C) { x.go(); }";
        let c = "pub struct C;\nfn f(x: u8) { x.run(); }";
        assert!(findings(&[("lib.rs", "mod b; mod c;"), ("b.rs", b), ("c.rs", c)]).is_empty());
    }
}
