//! Enumerations whose values people name: on the command line, in JSON, in messages.

/// Declares an enumeration together with the names of its values. The names are written
/// down once and serve the command line, JSON with its schema, `Display` and `FromStr`.
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$doc:meta])*
        pub enum $name:ident: $what:literal {
            $($(#[$variant_doc:meta])* $variant:ident = $text:literal),* $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema, clap::ValueEnum)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] #[value(name = $text)] $variant),*
        }

        impl $name {
            /// The name, as it is written everywhere.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text),*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                match text {
                    $($text => Ok($name::$variant),)*
                    other => Err(format!("unknown {} '{other}'", $what)),
                }
            }
        }
    };
}

pub use named_enum;
