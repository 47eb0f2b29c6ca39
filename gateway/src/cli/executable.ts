/**
 * Entry point of the executable (`npm run build:binary`). Some variables must be set before the runtime starts, so a gateway replaces
 * its own process once if they are missing.
 */
import { processVariables } from "#config/index.ts";
import runtimeEnvironment from "../../../scripts/runtime-environment.json";

if (import.meta.main) {
  startAgain(process.argv.slice(2));
  const { runProgram } = await import("./cli.ts");
  await runProgram();
}

/** Returns if that is not needed or, on Windows, not possible. */
function startAgain(words: readonly string[]): void {
  const isGateway = words.some((word) => word === "serve" || word === "demo");
  const variables = processVariables();
  const isSet = Object.keys(runtimeEnvironment).every((name) => variables[name] !== undefined);
  if (!isGateway || isSet || process.execve === undefined) return;
  try {
    process.execve(process.execPath, [process.argv0, ...words], { ...runtimeEnvironment, ...variables });
  } catch {
    // Runs with the runtime's defaults: fewer parallel fetches, longer garbage collection.
  }
}
