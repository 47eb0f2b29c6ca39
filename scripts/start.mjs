// `npm start`: installs, builds the console, starts the gateway. Any other command line goes to the CLI as it is.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { buildConsole } from "./build-console.mjs";
import { bun, bunEnvironment, install, root } from "./install.mjs";

install();
const words = process.argv.slice(2);
if ((words[0] === "serve" || words[0] === "demo") && !words.includes("--help") && !buildConsole()) {
  console.error("sluice: the console could not be built; the gateway starts without it.");
}
const child = spawn(bun, ["--no-env-file", join(root, "gateway", "src", "cli", "cli.ts"), ...words], {
  stdio: "inherit",
  env: { ...bunEnvironment, ...process.env },
});
// The terminal sends its signals to the whole group; those that are sent to this process alone are passed on.
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGTERM" || signal === "SIGINT" ? 0 : 1)));
