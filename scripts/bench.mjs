// `npm run bench`: installs and runs the comparison; `npm run bench -- --help` lists its options.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bun, bunEnvironment, install, root } from "./install.mjs";

install();
const done = spawnSync(bun, ["--no-env-file", join(root, "bench", "src", "main.ts"), ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...bunEnvironment, ...process.env },
});
process.exit(done.status ?? 1);
