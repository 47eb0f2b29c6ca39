// Runs the gateway's command line as a child of this process, until it ends; then this process ends as it did.
import { spawn } from "node:child_process";

/** `npm`: the process above this one where that is npm's, else null. */
export function runGateway({ runtime, program, words, environment, npm }) {
  // The channel carries nothing. It closes when this process dies, however suddenly, and the gateway then ends itself.
  const child = spawn(runtime, ["--no-env-file", program, ...words], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...environment, ...process.env },
  });
  // What a terminal or a supervisor sends to the whole group reaches the gateway twice; it counts that once.
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT", "SIGUSR2"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`sluice: ${runtime} could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGTERM" || signal === "SIGINT" ? 0 : 1)));
  if (npm === null) return;

  // npm passes SIGTERM and SIGINT on and waits. Of SIGHUP and SIGKILL it dies, and the gateway must not outlive it unnoticed.
  const look = () => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    child.kill("SIGTERM");
  };
  const timer = setInterval(look, 250);
  look();
}
