// Runs the gateway's command line as a child process and exits with its exit code.
import { spawn } from "node:child_process";

/** `npm`: the process id of npm if it started this process, else null. */
export function runGateway({ runtime, program, words, environment, npm }) {
  // The IPC channel carries no messages. It closes when this process dies, even from SIGKILL, and the gateway then stops.
  const child = spawn(runtime, ["--no-env-file", program, ...words], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...environment, ...process.env },
  });
  // A signal that a terminal or supervisor sends to the whole process group reaches the gateway twice; it ignores the second.
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT", "SIGUSR2"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`sluice: could not start ${runtime}: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGTERM" || signal === "SIGINT" ? 0 : 1)));
  if (npm === null) return;

  // npm forwards SIGTERM and SIGINT and waits. SIGHUP and SIGKILL end npm at once, and the gateway must not outlive it.
  const stopIfNpmEnded = () => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    child.kill("SIGTERM");
  };
  const timer = setInterval(stopIfNpmEnded, 250);
  stopIfNpmEnded();
}
