//! From a dialect to the type of its link, for whoever needs the type.

/// Carries an expression out with the link of a dialect.
#[macro_export]
macro_rules! with_link {
    ($dialect:expr, $link:ident => $then:expr) => {
        match $dialect {
            $crate::load::Dialect::Postgres => {
                type $link = $crate::load::PostgresLink;
                $then
            }
            $crate::load::Dialect::Mariadb => {
                type $link = $crate::load::MariadbLink;
                $then
            }
        }
    };
}
