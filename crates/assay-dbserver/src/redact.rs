//! Words of a command line without the passwords in them, however an address is written, also one
//! with a mistake in it.

/// Stands for what is not shown.
const HIDDEN: &str = "***";
/// Words that end in one of these and stand before a `=` name a secret.
const SECRETS: [&str; 4] = ["password", "passwd", "pwd", "secret"];

/// Whether a text may hold a password, as addresses do.
pub fn may_hold_password(text: &str) -> bool {
    redacted(text) != text
}

/// The same text without passwords: what stands between a user's `:` and the last `@`, and values
/// of settings that name a secret.
pub fn redacted(text: &str) -> String {
    without_values(&without_login(text))
}

/// `user:***@host`; everything up to the last `@`, because a password may hold any sign.
fn without_login(text: &str) -> String {
    let Some((before, place)) = text.rsplit_once('@') else {
        return text.to_owned();
    };
    // Behind the scheme, or behind an option's name, the first colon ends the user's name.
    let start = before.find("//").map_or(0, |at| at + 2);
    match before[start..].find(':') {
        Some(colon) => format!("{}:{HIDDEN}@{place}", &before[..start + colon]),
        None => text.to_owned(),
    }
}

/// `password=***`, in any form that settings have.
fn without_values(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let is_uri = next_value(&lower, 0).is_some_and(|value| is_in_uri(&text[..value]));
    let (mut shown, mut at) = (String::new(), 0);
    while let Some(value) = next_value(&lower, at) {
        shown.push_str(&text[at..value]);
        shown.push_str(HIDDEN);
        at = value + value_bytes(&text[value..], is_uri);
    }
    shown.push_str(&text[at..]);
    shown
}

/// Whether a value stands in a URI, by what comes before it. A URI holds no blank, and a password
/// may hold `://`.
fn is_in_uri(before: &str) -> bool {
    before.contains("://") && !before.contains(char::is_whitespace)
}

/// Where the next value of a secret begins.
fn next_value(lower: &str, from: usize) -> Option<usize> {
    let equals = lower[from..].match_indices('=').map(|(at, _)| from + at);
    let mut of_secrets = equals.filter(|at| {
        let name = lower[from..*at].trim_end();
        SECRETS.iter().any(|secret| name.ends_with(secret))
    });
    let equals = of_secrets.next()?;
    let blanks = lower[equals + 1..].len() - lower[equals + 1..].trim_start().len();
    let start = equals + 1 + blanks;
    (start < lower.len()).then_some(start)
}

/// How many bytes belong to a value: up to the `&` of an address, the closing quote, or the next
/// name and `=`, because a blank may be one of a password that should have been quoted.
fn value_bytes(value: &str, is_uri: bool) -> usize {
    if is_uri {
        return value.find('&').unwrap_or(value.len());
    }
    if let Some(quoted) = value.strip_prefix('\'') {
        return closing_quote(quoted).map_or(value.len(), |at| at + 2);
    }
    let known = [
        "host=",
        "hostaddr=",
        "port=",
        "user=",
        "dbname=",
        "sslmode=",
        "sslrootcert=",
        "application_name=",
    ];
    let ends = known.iter().filter_map(|name| value.find(&format!(" {name}")));
    ends.min().unwrap_or(value.len())
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, letter)| {
        let closes = letter == '\'' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        closes.then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_form_of_an_address_is_shown_without_its_password() {
        for (text, shown) in [
            ("postgresql://me:s3cret@h:1/db", "postgresql://me:***@h:1/db"),
            ("--on=mysql://me:s3@cret@h/", "--on=mysql://me:***@h/"),
            ("postgresql//me:s3cret@h/db", "postgresql//me:***@h/db"),
            ("postgresql://h/db?password=s3cret&user=me", "postgresql://h/db?password=***&user=me"),
            ("host=h password=s3cret user=me", "host=h password=*** user=me"),
            ("host=h password = 's3 \\'cret' user=me", "host=h password = *** user=me"),
            ("host=h password=my s3cret user=me", "host=h password=*** user=me"),
            ("host=h PASSWORD='s3cret", "host=h PASSWORD=***"),
            ("host=h password='://&s3cret'", "host=h password=***"),
            ("password=://s3&cret", "password=***"),
            ("PGPASSWORD=s3cret psql", "PGPASSWORD=***"),
            ("MYSQL_PWD=s3cret", "MYSQL_PWD=***"),
        ] {
            assert_eq!(redacted(text), shown);
            assert!(may_hold_password(text));
        }
        for text in
            ["postgresql://me@h/db", "/a/directory", "oltp", "--time=5s", "a@b", "password="]
        {
            assert_eq!(redacted(text), text);
        }
    }

    proptest! {
        #[test]
        fn no_password_survives(secret in "[ -~äß€]{1,30}", user in "[a-z]{1,8}") {
            // A mark that nothing else holds, with any signs around it.
            let secret = format!("{secret}Zq7{secret}");
            for text in [
                format!("postgresql://{user}:{secret}@h:1/db"),
                format!("postgresql//{user}:{secret}@h:1/db"),
                format!("mysql://{user}:{secret}@h/db?ssl-mode=REQUIRED"),
                format!("--target=mysql://{user}:{secret}@[::1]:3306/"),
                format!("host=h user={user} password='{}'", secret.replace('\\', "\\\\").replace('\'', "\\'")),
                format!("password={}", secret.replace('\'', "\\'")),
            ] {
                prop_assert!(!redacted(&text).contains("Zq7"), "{} became {}", text, redacted(&text));
            }
        }
    }
}
