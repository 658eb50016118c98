// The head of the auditor's page, with its style sheet.
#pragma once

#include "audit/html.h"

namespace jackpot::audit {

inline constexpr Html::Markup kPageHead{
    R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
:root { --ink: #1b1f24; --soft: #57606a; --paper: #fff; --band: #f4f6f8; --rule: #d0d7de; --line: #0550ae;
  --win: #9a3412; --reset: #116329; --good: #116329; --good-paper: #e6f4ea; --bad: #a40e26; --bad-paper: #ffebe9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9aa5b1; --paper: #0f1318; --band: #191f26; --rule: #343c46; --line: #79b8ff;
    --win: #ffa657; --reset: #7ee787; --good: #7ee787; --good-paper: #12261a; --bad: #ff8f88; --bad-paper: #3a1316; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1.5rem 4rem; color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-bottom: .2rem; border-bottom: 2px solid var(--rule); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .4rem; }
p { margin: .4rem 0; max-width: 48rem; }
.soft { color: var(--soft); }
a { color: var(--line); }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; padding: 0; margin: 1rem 0; }
.banner { margin: 1rem 0; padding: .8rem 1rem; border: 2px solid; border-radius: 6px; }
.banner p { margin: 0; max-width: none; overflow-wrap: anywhere; }
.banner p:first-child { font-size: 1.15rem; font-weight: 700; }
.good { color: var(--good); } .bad { color: var(--bad); }
.banner.good { background: var(--good-paper); } .banner.bad { background: var(--bad-paper); }
pre { margin: .5rem 0; padding: .7rem .9rem; background: var(--band); border: 1px solid var(--rule); border-radius: 6px;
  font: .85rem/1.5 ui-monospace, "Liberation Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .6rem 0 1.2rem; font-size: .85rem; line-height: 1.35; }
table.full { width: 100%; }
caption { text-align: left; font-weight: 600; padding: .2rem 0 .4rem; }
caption .soft { font-weight: 400; }
th, td { padding: .25rem .55rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--rule); }
thead th { background: var(--band); vertical-align: bottom; }
tbody th { font-weight: 600; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.t { white-space: nowrap; font-variant-numeric: tabular-nums; }
.a { min-width: 9rem; } .w { min-width: 14rem; overflow-wrap: anywhere; }
tr.total > * { font-weight: 600; background: var(--band); }
tbody.day tr:first-child > * { border-bottom-color: transparent; }
.beside caption { white-space: nowrap; }
.beside { display: flex; flex-wrap: wrap; gap: 0 2.5rem; align-items: flex-start; }
figure { margin: .6rem 0; }
svg { display: block; width: 100%; max-width: 60rem; height: auto; }
svg text { font-family: inherit; font-size: 105px; fill: var(--soft); }
svg .amounts, svg .end { text-anchor: end; } svg .times { text-anchor: middle; }
svg .grid { stroke: var(--rule); stroke-width: 7; fill: none; }
svg .line { stroke: var(--line); stroke-width: 17; fill: none; stroke-linejoin: round; }
svg .win { fill: var(--win); } svg .reset { fill: var(--reset); }
@page { size: A4; margin: 16mm 14mm; }
@page wide { size: A4 landscape; margin: 14mm; }
@media print {
  :root { --ink: #000; --soft: #444; --paper: #fff; --band: #f2f2f2; --rule: #bbb; --line: #003a8c; --win: #9a3412;
    --reset: #0b4f1f; --good: #0b4f1f; --good-paper: #fff; --bad: #a40e26; --bad-paper: #fff; }
  body { max-width: none; padding: 0; font-size: 9.5pt; }
  nav { display: none; }
  h1 { font-size: 17pt; } h2 { font-size: 13pt; margin-top: 7mm; } h3 { font-size: 10.5pt; }
  h2, h3, caption { break-after: avoid; }
  thead { display: table-header-group; }
  tr, tbody.day, figure, .banner, pre { break-inside: avoid; }
  table { font-size: 7.8pt; } .scroll { overflow: visible; } th, td { padding: .6mm 1.3mm; } .a, .w { min-width: 0; }
  .pool + .pool, #reconciliation { break-before: page; } #yourself { break-inside: avoid; }
  .wide { page: wide; } .wide table { font-size: 7.2pt; }
  a { color: inherit; text-decoration: none; }
}
</style>
<title>)"};

}  // namespace jackpot::audit
