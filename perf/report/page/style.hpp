// How pages look: CSS, for a phone, a laptop, a projector and paper, in the light and in the dark.
#pragma once

namespace keramos::perf {

// Text is at least 4.5 : 1 against what it stands on, the marks of charts 3 : 1; the browser's test measures both.
inline constexpr const char* light_colors =
    "--paper:#fff;--ink:#1d1f23;--dim:#565b66;--line:#dddad5;--grid:#e0e0e0;--head:#f4f0ec;"
    "--accent:#a8330b;--link:#0b57a0;--bad:#a1130a;--bad-paper:#fdeae6;--good:#17652f;--good-paper:#e8f5ec;";
inline constexpr const char* dark_colors =
    "--paper:#14161a;--ink:#eceef2;--dim:#adb4c0;--line:#343a45;--grid:#30353f;--head:#20242c;"
    "--accent:#ff9d7c;--link:#84c1ff;--bad:#ffb3a7;--bad-paper:#3f1713;--good:#83e0a4;--good-paper:#12301e;";

inline constexpr const char* page_style = R"css(
*{box-sizing:border-box}
html{font-size:15px;-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
body{font:1rem/1.5 system-ui,'DejaVu Sans',sans-serif;color:var(--ink);background:var(--paper);
  margin:0 auto;max-width:1280px;padding:24px}
h1{font-size:1.65rem;line-height:1.2;margin:0;text-wrap:balance}
h2{font-size:1.25rem;margin:2.4rem 0 .6rem;padding-bottom:.2rem;border-bottom:2px solid var(--accent)}
h3{font-size:1rem;margin:0}
p{margin:.4rem 0}
a{color:var(--link)}
.sub,footer,figcaption p{color:var(--dim)}
.sub,h1,li{overflow-wrap:anywhere}
footer{margin-top:2.4rem;border-top:1px solid var(--line);max-width:75ch}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:.6rem 0 1rem}
nav a{padding:.2rem 0}

/* What is right has a tick, what is wrong a cross and a border: colour is not all that tells. */
.good,.bad:not(tr),.note{padding:.5rem .9rem;border-left:5px solid;border-radius:3px;margin:.5rem 0}
.good{color:var(--good);background:var(--good-paper)}
.bad{color:var(--bad);background:var(--bad-paper);font-weight:600}
.note{color:var(--ink);background:var(--head);border-color:var(--dim)}
p.good::before{content:"\2713\00a0"}
p.bad::before,tr.bad>th::before{content:"\2717\00a0"}
section.bad h2{border:0;margin:0;padding:0;font-size:1.1rem}
section.bad ul,section.note ul{margin:.2rem 0;padding-left:1.2rem;font-weight:400}
section.note h2{border:0;margin:0;padding:0;font-size:1.1rem}

/* Tables: headers stay in sight, on wide screens at the top of the window, on others at that of the table's box. */
table{border-collapse:separate;border-spacing:0;font-size:.93rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--dim);padding:.2rem 0}
caption span{display:inline-block;position:sticky;left:0;max-width:min(75ch,calc(100vw - 40px))}
th,td{padding:.25rem .6rem;text-align:right;vertical-align:top;border-bottom:1px solid var(--line);white-space:nowrap}
th.t,td.t{text-align:left;white-space:normal;overflow-wrap:break-word}
td.t{max-width:36rem}
tbody th.t{min-width:11rem}
.on-phones{display:none}
td.t:nth-child(2):last-child{overflow-wrap:anywhere}
thead th{background:var(--head);position:sticky;top:0;z-index:2;white-space:normal;vertical-align:bottom}
tbody th{font-weight:600;background:var(--paper)}
tr.bad>th{background:var(--bad-paper)}
.box{margin:.5rem 0 1rem}
.box:focus-visible,a:focus-visible,summary:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.scroll{overflow:auto;max-height:85vh}
@media (max-width:1279.98px){
  .box{overflow:auto;max-height:85vh;max-width:100%;width:fit-content}
}
.charts .box{overflow:auto;max-height:85vh}

/* Charts: a wide and a narrow drawing of each, of which one is shown. */
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,600px),1fr));gap:24px 24px}
figure{margin:0;min-width:0;max-width:900px}
figure svg{display:block;width:100%;height:auto}
figure svg+svg{display:none;max-width:480px}
svg .paper{fill:var(--paper)}
svg .ink{fill:var(--ink);stroke:var(--paper);stroke-width:3px;stroke-linejoin:round;paint-order:stroke}
svg .on-bar{fill:var(--paper)}
svg .axis{stroke:var(--ink)}
svg .grid{stroke:var(--grid)}
svg .halo{stroke:var(--paper)}
summary{cursor:pointer;color:var(--link);padding:.2rem 0;width:fit-content}
@media (max-width:639.98px){
  figure svg{display:none}
  figure svg+svg{display:block}
}

@media (max-width:639.98px){
  html{font-size:16px}
  body{padding:14px}
  h1{font-size:1.4rem}
  table{font-size:.875rem}
  th,td{padding:.3rem .5rem}
  tbody th{position:sticky;left:0;z-index:1}
  tbody th.t{min-width:6.5rem;max-width:9.5rem}
  thead th:first-child{left:0;z-index:3}
  .on-phones{display:block;font-weight:400}
  .not-on-phones{display:none}
}
@media (min-width:1700px){
  html{font-size:20px}
  body{max-width:1840px;padding:32px 40px}
  .charts{grid-template-columns:repeat(auto-fit,minmax(760px,1fr))}
}
@page{margin:12mm 10mm}
@media print{
  html{font-size:9pt}
  body{max-width:none;padding:0}
  nav,summary,.save{display:none}
  .box,.scroll{overflow:visible;max-height:none}
  .charts{display:block}
  figure{max-width:600px;margin-bottom:1rem}
  figure svg{break-inside:avoid}
  figcaption{break-after:avoid}
  thead th{position:static}
  tr{break-inside:avoid}
  h2{break-after:avoid}
  table{font-size:7pt}
  th,td{padding:.15rem .2rem}
  tbody th.t{min-width:5rem}
  .good,.bad,thead th{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
)css";

}  // namespace keramos::perf
