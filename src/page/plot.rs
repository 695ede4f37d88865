//! Line plots as SVG.

use super::compact;
use maud::{Markup, PreEscaped, html};

/// A plot over small whole numbers.
#[derive(Debug, Clone)]
pub struct Plot {
    pub title: String,
    /// A line below the title.
    pub subtitle: String,
    /// What the x axis counts.
    pub x: String,
    /// A logarithmic y axis; otherwise it begins at 0.
    pub log: bool,
    /// The unit of y behind its figures.
    pub unit: &'static str,
    /// The lines that matter.
    pub series: Vec<Series>,
    /// Lines in the background.
    pub faint: Vec<Series>,
}

/// One line.
#[derive(Debug, Clone)]
pub struct Series {
    pub name: String,
    /// Its colour and marker: `fd`, `pd`, `set` or `best`.
    pub class: &'static str,
    pub dashed: bool,
    pub points: Vec<(usize, f64)>,
}

const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 260.0;
/// Room for the figures of the y axis, the title, and what is below.
const LEFT: f64 = 52.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 58.0;
/// The smallest and the largest figure that a logarithmic axis shows.
const DECADES: (f64, f64) = (1e-6, 1e20);
/// There is room for this many figures on the x axis.
const X_FIGURES: usize = 12;

/// Colours of a plot that stands alone, in light and dark.
const ALONE: &str = "svg{--fg:#24292f;--line:#d0d7de;--fd:#0b62c4;--pd:#b3470b;\
     --set:#6e7781;--best:#1a7f37;font-family:system-ui,sans-serif}\
     @media(prefers-color-scheme:dark){svg{--fg:#d5dae0;--line:#3d444d;--fd:#6cb0ff;\
     --pd:#f0975a;--set:#9198a1;--best:#4ac26b}}";

/// How a plot looks, wherever it stands.
const LOOK: &str = ".grid{stroke:var(--line)}.plot text{fill:var(--fg);font-size:11px}\
     .plot .title{font-size:13px;font-weight:600}.plot .sub{opacity:.7}\
     .plot path{fill:none;stroke-width:2}.plot .faint{opacity:.22}.plot .faint path{stroke-width:1}\
     .fd{stroke:var(--fd);fill:var(--fd)}.pd{stroke:var(--pd);fill:var(--pd)}\
     .set{stroke:var(--set);fill:var(--set)}.best{stroke:var(--best);fill:var(--best)}\
     .plot path.fd,.plot path.pd,.plot path.set,.plot path.best{fill:none}\
     .dashed{stroke-dasharray:5 3}";

struct Scale {
    low: f64,
    high: f64,
    log: bool,
    /// The smallest and largest x.
    from: usize,
    to: usize,
}

impl Scale {
    fn x(&self, x: usize) -> f64 {
        let span = (self.to - self.from).max(1) as f64;
        let inner = WIDTH - LEFT - 30.0;
        LEFT + 12.0 + inner * (x - self.from) as f64 / span
    }

    fn y(&self, y: f64) -> f64 {
        let of = |y: f64| if self.log { shown(y).log10() } else { y };
        let share = (of(y) - of(self.low)) / (of(self.high) - of(self.low));
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share
    }

    /// Where the x axis has figures.
    fn columns(&self) -> impl Iterator<Item = usize> {
        let step = (self.to - self.from) / X_FIGURES + 1;
        (self.from..=self.to).step_by(step)
    }

    /// Where the grid lines are.
    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let (low, high) = (self.low.log10().round(), self.high.log10().round());
            let step = ((high - low) / 6.0).ceil().max(1.0);
            let count = ((high - low) / step) as usize;
            return (0..=count)
                .map(|i| 10f64.powf(low + step * i as f64))
                .collect();
        }
        let step = [
            1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 1e4, 1e5, 1e6,
        ];
        let step = step
            .into_iter()
            .find(|step| self.high / step <= 6.0)
            .unwrap_or(1e9);
        let count = (self.high / step) as usize;
        (0..=count).map(|i| step * i as f64).collect()
    }
}

impl Plot {
    /// Whether there is a line to draw.
    pub fn is_empty(&self) -> bool {
        let short = |series: &Series| series.class == "best" || series.points.len() < 2;
        self.series.iter().all(short)
    }

    fn scale(&self) -> Scale {
        let all = self
            .series
            .iter()
            .chain(&self.faint)
            .flat_map(|s| &s.points);
        let (mut from, mut to) = (usize::MAX, 0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &(x, y) in all {
            (from, to) = (from.min(x), to.max(x));
            (low, high) = (low.min(y), high.max(y));
        }
        if self.log {
            let decade = |y: f64, round: fn(f64) -> f64| 10f64.powf(round(shown(y).log10()));
            (low, high) = (decade(low, f64::floor), decade(high, f64::ceil));
            high = high.max(low * 10.0);
        } else {
            (low, high) = (0.0, high.max(1.0) * 1.1);
        }
        Scale {
            low,
            high,
            log: self.log,
            from: from.min(to),
            to,
        }
    }

    /// As part of a page that defines the colours.
    pub fn svg(&self) -> Markup {
        self.draw(None)
    }

    /// As a file of its own.
    pub fn standalone(&self) -> String {
        self.draw(Some(ALONE)).into_string() + "\n"
    }

    fn draw(&self, colours: Option<&str>) -> Markup {
        let scale = self.scale();
        html! {
            svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img"
                viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) {
                title { (self.title) }
                @if let Some(colours) = colours { style { (PreEscaped(colours)) } }
                style { (PreEscaped(LOOK)) }
                text.title x="8" y="16" { (self.title) }
                text.sub x="8" y="31" { (self.subtitle) }
                (self.axes(&scale))
                g.faint {
                    @for series in &self.faint { (path(series, &scale)) }
                }
                @for series in &self.series {
                    (path(series, &scale))
                    @for &(x, y) in &series.points {
                        (marker(series.class, scale.x(x), scale.y(y)))
                    }
                }
                (self.legend())
            }
        }
    }

    /// Grid lines with the figures of the y axis, and the figures of the x axis.
    fn axes(&self, scale: &Scale) -> Markup {
        let right = WIDTH - 8.0;
        html! {
            @for tick in scale.ticks() {
                @let y = scale.y(tick);
                line.grid x1=(LEFT) x2=(right) y1=(tenths(y)) y2=(tenths(y)) {}
                text x=(LEFT - 6.0) y=(tenths(y + 4.0)) text-anchor="end" { (self.figure(tick)) }
            }
            @for x in scale.columns() {
                text x=(tenths(scale.x(x))) y=(HEIGHT - BOTTOM + 16.0) text-anchor="middle" { (x) }
            }
            text x=(right) y=(HEIGHT - BOTTOM + 30.0) text-anchor="end" { (self.x) }
        }
    }

    /// The names of the lines, side by side below the plot.
    fn legend(&self) -> Markup {
        let low = HEIGHT - 10.0;
        let widths = self.series.iter().map(|series| {
            let characters = series.name.chars().count() as f64;
            38.0 + 6.2 * characters
        });
        let left = widths.scan(8.0, |right, width| {
            *right += width;
            Some(*right - width)
        });
        html! {
            @for (series, at) in self.series.iter().zip(left) {
                path class=(classes(series)) d={ "M" (at) " " (low - 4.0) "h18" } {}
                (marker(series.class, at + 9.0, low - 4.0))
                text x=(at + 24.0) y=(low) { (series.name) }
            }
        }
    }

    fn figure(&self, y: f64) -> String {
        match y {
            y if y >= 1.0 || y == 0.0 => format!("{}{}", compact(y.round() as u64), self.unit),
            y if y >= 0.000_9 => format!("{:.0} m{}", y * 1e3, self.unit.trim()),
            y => format!("{:.0} µ{}", y * 1e6, self.unit.trim()),
        }
    }
}

/// A figure as a logarithmic axis shows it.
fn shown(y: f64) -> f64 {
    y.clamp(DECADES.0, DECADES.1)
}

fn path(series: &Series, scale: &Scale) -> Markup {
    let points = series.points.iter().enumerate().map(|(index, &(x, y))| {
        let command = if index == 0 { 'M' } else { 'L' };
        format!("{command}{:.1} {:.1}", scale.x(x), scale.y(y))
    });
    html! { path class=(classes(series)) d=(points.collect::<String>()) {} }
}

fn classes(series: &Series) -> String {
    let dashed = if series.dashed { " dashed" } else { "" };
    format!("{}{dashed}", series.class)
}

/// Colours alone do not tell lines apart.
fn marker(class: &str, x: f64, y: f64) -> Markup {
    html! {
        @match class {
            "fd" => circle.fd cx=(tenths(x)) cy=(tenths(y)) r="3.5" {},
            "pd" => rect.pd x=(tenths(x - 3.0)) y=(tenths(y - 3.0)) width="6" height="6" {},
            _ => {},
        }
    }
}

/// A coordinate, as precise as a drawing needs it.
fn tenths(coordinate: f64) -> String {
    format!("{coordinate:.1}")
}
