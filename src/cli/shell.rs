//! `fencesmith completions` and `fencesmith man`.

use super::args::Arguments;
use super::streams::print;
use super::{Exit, Failure};
use clap::CommandFactory;
use clap_complete::Shell;

/// Prints what a shell needs to complete commands and options.
pub fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "fencesmith", &mut out);
    print(&String::from_utf8_lossy(&out))?;
    Ok(Exit::Fine)
}

/// Prints the manual page: the program, then each command.
pub fn man() -> Result<Exit, Failure> {
    let mut command = Arguments::command();
    command.build();
    let failed = |error| Failure::message(format!("cannot make the manual page: {error}"));
    let mut out = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut out)
        .map_err(failed)?;
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        out.extend(format!(".SH FENCESMITH {}\n", sub.get_name().to_uppercase()).bytes());
        let page = clap_mangen::Man::new(sub.clone());
        page.render_description_section(&mut out).map_err(failed)?;
        page.render_synopsis_section(&mut out).map_err(failed)?;
        page.render_options_section(&mut out).map_err(failed)?;
    }
    print(&String::from_utf8_lossy(&out))?;
    Ok(Exit::Fine)
}
