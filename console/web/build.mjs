// Bundles the pages and writes them as one C++ source: node build.mjs OUT.cpp
// The names of scripts and styles contain a hash of their contents, so that browsers can cache them without limit.
import { build } from "esbuild";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) throw new Error("usage: node build.mjs OUT.cpp");

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

const titles = { console: "Jackpots", sign: "Jackpot", table: "Table" };
const pages = Object.keys(titles);
const bundled = await mkdtemp(join(tmpdir(), "jackpotd-pages-"));
const made = await build({
  absWorkingDir: here,
  entryPoints: pages.map((page) => `src/${page}.tsx`),
  entryNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  outdir: bundled,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  metafile: true,
  loader: { ".svg": "file", ".woff2": "file" },
  publicPath: "/assets",
});

// The script and style sheet of each page.
const outputs = {};
for (const [file, info] of Object.entries(made.metafile.outputs)) {
  const page = info.entryPoint && basename(info.entryPoint, ".tsx");
  if (!page) continue;
  outputs[page] = { js: basename(file), css: info.cssBundle && basename(info.cssBundle) };
}

const assets = [];
for (const name of (await readdir(bundled)).sort())
  assets.push({ name, bytes: await readFile(join(bundled, name)) });
const shell = await readFile(join(here, "src", "page.html"), "utf8");
for (const page of pages) {
  const { js, css } = outputs[page];
  const tags =
    (css ? `<link rel="stylesheet" href="/assets/${css}">\n` : "") +
    `<script type="module" src="/assets/${js}"></script>`;
  const html = shell.replace("<!-- title -->", titles[page]).replace("<!-- bundle -->", tags);
  assets.push({ name: `${page}.html`, bytes: Buffer.from(html) });
}
assets.push({ name: "icon.svg", bytes: await readFile(join(here, "src", "icon.svg")) });
await rm(bundled, { recursive: true });

// Octal escapes always have three digits, so that a following digit is not part of them.
const literal = (bytes) => {
  let text = "";
  for (const byte of bytes)
    text +=
      byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c && byte !== 0x3f
        ? String.fromCharCode(byte)
        : `\\${byte.toString(8).padStart(3, "0")}`;
  return `"${text}"`;
};
const rows = assets.map(({ name, bytes }) => {
  const type = types[name.slice(name.lastIndexOf("."))];
  if (!type) throw new Error(`${name}: unknown file type`);
  return `        {"${name}", "${type}", {${literal(bytes)}, ${bytes.length}}},\n`;
});
await writeFile(
  out,
  `// Made by console/web/build.mjs.
#include "console/desk/pages.h"

namespace jackpot::console {

const std::vector<Asset>& assets()
{
    static const std::vector<Asset> all{
${rows.join("")}    };
    return all;
}

}  // namespace jackpot::console
`,
);
