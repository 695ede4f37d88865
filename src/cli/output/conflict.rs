//! Refusing to write over what a command reads, or twice over the same file.

use super::super::Failure;
use super::{handle, is_stdout, is_stream, resolve};
use same_file::Handle;
use std::path::{Path, PathBuf, absolute};

/// What a file is to a command, such as `the program` or `--emit`, and its path.
pub type Role<'a> = (&'a str, &'a Path);

/// Refuses outputs that are inputs or the same file as another output. Files are compared, not
/// names: links lead to the file they name.
pub fn refuse_overwriting<'a>(
    inputs: impl IntoIterator<Item = Role<'a>>,
    outputs: &[Role],
) -> Result<(), Failure> {
    let outputs = outputs.iter().filter(|(_, path)| !is_stream(path));
    let outputs: Vec<(&str, &Path, Identity)> = outputs
        .map(|(option, path)| (*option, *path, Identity::of(path)))
        .collect();
    for (role, input) in inputs {
        let input = Identity::of_input(input);
        let same = outputs.iter().find(|(.., output)| output.is(&input));
        if let Some((option, path, _)) = same {
            let text = format!("{option} would overwrite '{}', {role}", path.display());
            return Err(another_file(text));
        }
    }
    for (index, (option, path, output)) in outputs.iter().enumerate() {
        // Standard output takes one text after the other.
        let mut earlier = outputs[..index].iter().filter(|_| !is_stdout(path));
        if let Some((other, ..)) = earlier.find(|(.., earlier)| earlier.is(output)) {
            let path = path.display();
            let text = format!("{other} and {option} would write to one file, '{path}'");
            return Err(another_file(text));
        }
    }
    Ok(())
}

fn another_file(text: String) -> Failure {
    Failure::Message {
        text,
        help: Some("name another file".to_string()),
    }
}

/// What two names of one file have in common.
struct Identity {
    /// Without links; as far as that is possible, if the folder does not exist.
    path: PathBuf,
    /// Of a file that exists and can be read.
    handle: Option<Handle>,
}

impl Identity {
    fn of(path: &Path) -> Identity {
        let given = || absolute(path).unwrap_or_else(|_| path.to_path_buf());
        Identity {
            path: resolve(path).unwrap_or_else(|_| given()),
            handle: handle(path),
        }
    }

    /// An input may be `-`, which is standard input.
    fn of_input(path: &Path) -> Identity {
        match path.as_os_str() == "-" {
            true => Identity {
                path: PathBuf::from("-"),
                handle: Handle::stdin().ok(),
            },
            false => Identity::of(path),
        }
    }

    fn is(&self, other: &Identity) -> bool {
        let handles = self.handle.as_ref().zip(other.handle.as_ref());
        self.path == other.path || handles.is_some_and(|(one, two)| one == two)
    }
}
