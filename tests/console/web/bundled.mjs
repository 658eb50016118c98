// A module of the pages, as it is bundled, to be tried without a browser: load("sign/odometer.ts")
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const web = new URL("../../../console/web/", import.meta.url);
const { build } = createRequire(new URL("package.json", web))("esbuild");

export async function load(source) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`src/${source}`, web))],
    bundle: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
