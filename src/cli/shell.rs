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

/// Prints the manual page: that of a command, or that of the program with all commands behind it.
pub fn man(of: Option<&str>) -> Result<Exit, Failure> {
    let mut command = Arguments::command();
    command.build();
    let failed = |error| Failure::message(format!("cannot make the manual page: {error}"));
    let mut out = Vec::new();
    if let Some(name) = of {
        let Some(sub) = command.find_subcommand(name) else {
            return Err(Failure::message(format!("there is no command '{name}'")));
        };
        let page = clap_mangen::Man::new(sub.clone());
        page.render(&mut out).map_err(failed)?;
        print(&String::from_utf8_lossy(&out))?;
        return Ok(Exit::Fine);
    }
    clap_mangen::Man::new(command.clone())
        .render(&mut out)
        .map_err(failed)?;
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
    {
        out.extend(format!(".SH FENCESMITH {}\n", sub.get_name().to_uppercase()).bytes());
        let page = clap_mangen::Man::new(sub.clone());
        page.render_description_section(&mut out).map_err(failed)?;
        page.render_synopsis_section(&mut out).map_err(failed)?;
        page.render_options_section(&mut out).map_err(failed)?;
        if sub.get_after_help().is_some() || sub.get_after_long_help().is_some() {
            page.render_extra_section(&mut out).map_err(failed)?;
        }
    }
    print(&String::from_utf8_lossy(&out))?;
    Ok(Exit::Fine)
}
