//! The page: its head, and its sections in order.

use super::markup::escaped;
use super::{
    against, baseline, curve, facts, levels, percentiles, series, servers, steps, style, summary,
};
use crate::bench::run::Run;

/// Returns the page of this run.
pub(crate) fn page(run: &Run) -> String {
    let title = format!("redbolt bench, {}", escaped(&run.started_at));
    let sections = [
        summary::section(run),
        curve::section(run),
        baseline::section(run),
        against::section(run),
        levels::section(run),
        percentiles::section(run),
        series::section(run),
        servers::section(run),
        facts::section(run),
        steps::section(run),
    ];
    format!(
        "<!DOCTYPE html>\n\
         <html lang=\"en\">\n\
         <head>\n\
         <meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title}</title>\n\
         <style>{}</style>\n\
         </head>\n\
         <body>\n\
         <main>\n{}</main>\n\
         </body>\n\
         </html>\n",
        style::STYLE,
        sections.concat(),
    )
}
