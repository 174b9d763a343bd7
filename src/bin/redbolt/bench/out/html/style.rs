//! The style of the page, for light and for dark.

/// Colours are variables, so that charts follow the scheme of the reader. The six colours of lines
/// differ in lightness too, for those who do not see all colours, and every line has a name.
pub(super) const STYLE: &str = "
:root {
  --back: #ffffff; --raised: #f5f6f8; --text: #1a1d21; --soft: #5a626c; --rule: #d5d9df;
  --good: #146c3a; --bad: #b3261e; --mark: #8a5a00;
  --c0: #0b62c4; --c1: #c2500a; --c2: #16803c; --c3: #8b3fb8; --c4: #b3245e; --c5: #5f6b00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171a; --raised: #1e2226; --text: #e6e9ec; --soft: #a3abb4; --rule: #3a4149;
    --good: #6bd18f; --bad: #ff8a80; --mark: #f0b84a;
    --c0: #6cb0ff; --c1: #ff9a57; --c2: #6bd18f; --c3: #cf9bf0; --c4: #ff8fb8; --c5: #cdd65a;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
p { margin: .4rem 0; max-width: 46rem; overflow-wrap: anywhere; }
.soft, figcaption, th, dt, summary { color: var(--soft); }
.verdict { font-size: 1.15rem; border-left: .3rem solid var(--c0); padding-left: .75rem;
  margin: 1rem 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .6rem;
  margin: 1rem 0; }
.tiles div { background: var(--raised); border-radius: .5rem; padding: .6rem .75rem; }
.tiles dt { font-size: .85rem; }
.tiles dd { margin: 0; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr));
  gap: 1rem; }
figure { margin: 0; min-width: 0; }
figcaption { font-size: .9rem; margin-top: .25rem; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 13px system-ui, sans-serif; fill: var(--soft); }
svg .axis { stroke: var(--soft); } svg .grid { stroke: var(--rule); }
svg .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
svg .mark { stroke: var(--mark); stroke-width: 1.5; stroke-dasharray: 5 4; }
svg text.marked { fill: var(--mark); font-weight: 600; }
.k0 { stroke: var(--c0); } .k1 { stroke: var(--c1); } .k2 { stroke: var(--c2); }
.k3 { stroke: var(--c3); } .k4 { stroke: var(--c4); } .k5 { stroke: var(--c5); }
.f0 { fill: var(--c0); } .f1 { fill: var(--c1); } .f2 { fill: var(--c2); }
.f3 { fill: var(--c3); } .f4 { fill: var(--c4); } .f5 { fill: var(--c5); }
svg .d1 { stroke-dasharray: 8 4; } svg .d2 { stroke-dasharray: 3 3; }
svg .d3 { stroke-dasharray: 10 3 2 3; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; list-style: none; margin: .25rem 0 0;
  padding: 0; font-size: .9rem; }
.legend svg { display: inline-block; width: 1.9rem; height: .6rem; margin-right: .35rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--rule); }
thead th { vertical-align: bottom; font-weight: 500; }
th:first-child, td:first-child { padding-left: 0; }
td.text, th.text { text-align: left; }
td.long { white-space: normal; min-width: 14rem; overflow-wrap: anywhere; }
tr.knee td, tr.knee th { background: var(--raised); font-weight: 600; }
.worse { color: var(--bad); font-weight: 600; } .better { color: var(--good); }
dl.facts { display: grid; grid-template-columns: minmax(9rem, max-content) 1fr; gap: .15rem 1rem;
  margin: .5rem 0; }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
details { margin: .5rem 0; } summary { cursor: pointer; }
@media (max-width: 30rem) {
  main { padding: 1rem .75rem 2rem; } h1 { font-size: 1.35rem; }
  svg text { font-size: 15px; }
}
";
