//! The program with its fences, as a file or as a patch.

use super::InferAnswer;
use crate::c::{self, FencedFile, Repair};
use crate::cli::convert::converted;
use crate::cli::input::{self, Input};
use crate::cli::interrupt::Interruptible;
use crate::cli::preprocess::preprocess_changed;
use crate::cli::streams::print;
use crate::cli::verify::limits;
use crate::cli::{Failure, output, progress};
use crate::import::Format;
use crate::infer::Placement;
use crate::lang::insert_fences;
use crate::program::{FenceKind, FenceSite, PointId, Side};
use crate::report::patch::unified_diff;
use crate::source::Span;
use crate::verify::{Verdict, VerifyOptions, verify};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

impl InferAnswer<'_> {
    /// Writes the program with its fences: a file, several of them, a patch.
    pub fn write(&self, searches: &Interruptible) -> Result<(), Failure> {
        let Some(placement) = self.known() else {
            return Ok(());
        };
        if self.args.emit.is_none() && !self.args.patch {
            return Ok(());
        }
        if let Some(point) = self.only_in_some(placement) {
            let text = format!(
                "cannot write the fence {}: it does not stand like this in every instance of its template",
                self.place(point)
            );
            return Err(Failure::message(text));
        }
        let Some(files) = self.fenced_files(placement) else {
            return self.write_converted(placement);
        };
        if self.input.format == Format::C {
            self.verify_again(&files, searches)?;
        }
        if let Some(path) = self.emitted() {
            self.emit(&path, &files)?;
        }
        match self.args.patch {
            true => print(
                &files
                    .iter()
                    .map(|file| self.patch(file))
                    .collect::<String>(),
            ),
            false => Ok(()),
        }
    }

    /// The file that is written under the model of the answer.
    fn emitted(&self) -> Option<PathBuf> {
        super::emitted(self.args, self.options.verify.semantics.model)
    }

    /// The text of the main file with one of the fences, where it can be typed into it.
    pub fn with_fence(&self, index: usize) -> Option<String> {
        let known = self.known()?;
        let point = known.fences.iter().nth(index)?;
        let site = self.program.points[point.index()].sites[0];
        let files = self.typed(&[(site, known.kinds[index])])?;
        let main = files
            .into_iter()
            .find(|file| file.name == self.source.name());
        main.map(|file| file.text)
    }

    /// The files that fences are typed into; nothing if the language has no fences.
    pub fn fenced_files(&self, placement: &Placement) -> Option<Vec<FencedFile>> {
        self.typed(&self.sites(placement))
    }

    fn typed(&self, sites: &[(FenceSite, FenceKind)]) -> Option<Vec<FencedFile>> {
        match self.input.format {
            Format::Fen => Some(vec![FencedFile {
                name: self.source.name().to_string(),
                span: Span::new(0, self.source.text().len()),
                text: insert_fences(self.source, sites),
            }]),
            Format::C => {
                let mut files = c::insert_fences(self.source, sites);
                if files.is_empty() {
                    // Nothing is changed.
                    let (name, span) = self.source.files().next()?;
                    files.push(FencedFile {
                        name: name.to_string(),
                        span,
                        text: self.source.slice(span).to_string(),
                    });
                }
                Some(files)
            }
            Format::Litmus | Format::Rmm | Format::Trencher => None,
        }
    }

    /// Where the fences are typed.
    fn sites(&self, placement: &Placement) -> Vec<(FenceSite, FenceKind)> {
        let fences = placement.fences.iter().zip(&placement.kinds);
        let sites = fences.map(|(point, kind)| {
            let point = &self.program.points[point.index()];
            (point.sites[0], *kind)
        });
        let mut sites: Vec<_> = sites.collect();
        sites.sort();
        sites.dedup();
        sites
    }

    /// Writes a foreign program in the native language.
    fn write_converted(&self, placement: &Placement) -> Result<(), Failure> {
        let text = converted(self.input, &self.sites(placement));
        match (self.emitted(), text) {
            (Some(path), Some(text)) if !self.args.patch => output::write(&path, &text),
            _ => Err(Failure::Message {
                text: format!("{} programs have no fences to patch in", self.input.format),
                help: Some("--emit writes them in the native language".to_string()),
            }),
        }
    }

    /// Writes the main file to a path, or all files that have fences to a folder.
    fn emit(&self, path: &Path, files: &[FencedFile]) -> Result<(), Failure> {
        let main = self.source.name();
        let into_folder = path.is_dir();
        let outputs: Vec<(PathBuf, &FencedFile)> = match (into_folder, files) {
            (true, _) => files
                .iter()
                .map(|file| (path.join(below(&file.name)), file))
                .collect(),
            (false, [file]) if file.name == main => vec![(path.to_path_buf(), file)],
            (false, _) => {
                let names: Vec<String> = files.iter().map(|f| format!("'{}'", f.name)).collect();
                return Err(Failure::Message {
                    text: format!(
                        "fences go into {}, not only into '{main}'",
                        names.join(", ")
                    ),
                    help: Some("name a folder with --emit, or take them as a --patch".to_string()),
                });
            }
        };
        let roles: Vec<_> = outputs
            .iter()
            .map(|(path, _)| ("--emit", &**path))
            .collect();
        let inputs = self.source.files().skip(1);
        let inputs = inputs.map(|(name, _)| ("a part of the program", Path::new(name)));
        let inputs = inputs.chain([("the program", self.file)]);
        output::refuse_overwriting(inputs, &roles)?;
        for (path, file) in outputs {
            if let Some(folder) = path.parent().filter(|_| into_folder) {
                output::create_folder(folder)?;
            }
            output::write(&path, &file.text)?;
        }
        Ok(())
    }

    /// The change of a file, under a name by which `patch` finds it from the current folder.
    fn patch(&self, file: &FencedFile) -> String {
        let here = std::env::current_dir().unwrap_or_default();
        let path = without_detours(Path::new(&file.name));
        let name = path.strip_prefix(&here).unwrap_or(&path).display();
        let original = self.source.slice(file.span);
        unified_diff(&name.to_string(), original, &file.text)
    }

    /// Whether the program still verifies when the changes are typed. A store that becomes
    /// release orders less than a fence before it would.
    pub fn holds_as_typed(&self, searches: &Interruptible) -> Result<bool, Failure> {
        let releases = |placement: &Placement| {
            let mut sites = self.sites(placement).into_iter();
            sites.any(|(site, _)| site.side == Side::Release)
        };
        match self.known() {
            Some(placement) if releases(placement) => {
                let files = self.fenced_files(placement).unwrap_or_default();
                Ok(self.verdict_as_typed(&files, searches)? == Verdict::Correct)
            }
            _ => Ok(true),
        }
    }

    /// Reads the files with their fences and verifies what they say.
    fn verify_again(&self, files: &[FencedFile], searches: &Interruptible) -> Result<(), Failure> {
        match self.verdict_as_typed(files, searches)? {
            Verdict::Correct => Ok(()),
            Verdict::Violated | Verdict::Inconclusive(_) => Err(Failure::message(format!(
                "nothing was written: '{}' with the fences typed in could not be verified again",
                self.source.name()
            ))),
        }
    }

    fn verdict_as_typed(
        &self,
        files: &[FencedFile],
        searches: &Interruptible,
    ) -> Result<Verdict, Failure> {
        let common = &self.args.common;
        let preprocessed = preprocess_changed(self.file, self.source, files, &common.c)?;
        let Input { program, .. } = input::compile_c(&preprocessed, &common.c, Repair::Fences)?;
        let options = VerifyOptions {
            limits: limits(common),
            ..self.options.verify.clone()
        };
        let what = format!("{} with its fences", self.source.name());
        let answer = progress::watched(common, searches, &what, |monitor| {
            verify(&program, &options, monitor)
        });
        Ok(answer.verdict)
    }

    /// A fence that some instance of the template lacks or has of another kind.
    fn only_in_some(&self, placement: &Placement) -> Option<PointId> {
        let fences: BTreeMap<PointId, _> = placement
            .fences
            .iter()
            .copied()
            .zip(&placement.kinds)
            .collect();
        let mut all = fences.iter();
        let found = all.find(|(point, kind)| {
            let own = &self.program.points[point.index()];
            let same = self.program.points.iter().enumerate();
            let mut same = same
                .filter(|(_, other)| other.template == own.template && other.sites == own.sites);
            same.any(|(id, _)| fences.get(&PointId(id as u32)) != Some(kind))
        });
        found.map(|(point, _)| *point)
    }
}

/// A path that does not go into a folder and out of it again, if it leads to the same file.
fn without_detours(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for component in path.components() {
        match (component, short.components().next_back()) {
            (Component::ParentDir, Some(Component::Normal(_))) => {
                short.pop();
            }
            _ => short.push(component),
        }
    }
    match (path.canonicalize(), short.canonicalize()) {
        (Ok(one), Ok(two)) if one == two => short,
        _ => path.to_path_buf(),
    }
}

/// A path that stays below any folder it is joined to.
fn below(name: &str) -> PathBuf {
    let path = without_detours(Path::new(name));
    let components = path.components();
    components
        .filter(|component| matches!(component, Component::Normal(_)))
        .collect()
}
