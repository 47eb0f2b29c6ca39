// `npm start`: installs, builds the console, starts the gateway. Any other command line goes to the CLI as it is.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { buildConsole } from "./build-console.mjs";
import { bun, bunEnvironment, install, root } from "./install.mjs";

const parent = process.ppid;
install();
const words = process.argv.slice(2);
if ((words[0] === "serve" || words[0] === "demo") && !words.includes("--help") && !buildConsole()) {
  console.error("sluice: the console could not be built; the gateway starts without it.");
}
// The channel carries nothing. It closes when this process dies, however suddenly, and the gateway then ends itself.
const child = spawn(bun, ["--no-env-file", join(root, "gateway", "src", "cli", "cli.ts"), ...words], {
  stdio: ["inherit", "inherit", "inherit", "ipc"],
  env: { ...bunEnvironment, ...process.env },
});
// What a terminal or a supervisor sends to the whole group reaches the gateway twice; it counts that once.
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT", "SIGUSR2"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`sluice: ${bun} could not be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGTERM" || signal === "SIGINT" ? 0 : 1)));

// npm passes SIGTERM and SIGINT on and waits. Of SIGHUP and SIGKILL it dies, and the gateway must not outlive it unnoticed.
if (process.env.npm_package_json === join(root, "package.json")) {
  const look = () => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    child.kill("SIGTERM");
  };
  const timer = setInterval(look, 250);
  look();
}
