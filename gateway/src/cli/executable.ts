/**
 * Where the executable begins (`npm run build:binary`). What `npm start` sets for the runtime has to be in the environment
 * before the runtime starts, so a gateway begins once more, as the same process, when it is not.
 */
import { processVariables } from "#config/index.ts";
import runtimeEnvironment from "../../../scripts/runtime-environment.json";

if (import.meta.main) {
  startAgain(process.argv.slice(2));
  const { runProgram } = await import("./cli.ts");
  await runProgram();
}

/** Returns where that is not needed, or cannot be done: Windows cannot. */
function startAgain(words: readonly string[]): void {
  const isGateway = words.some((word) => word === "serve" || word === "demo");
  const variables = processVariables();
  const isSet = Object.keys(runtimeEnvironment).every((name) => variables[name] !== undefined);
  if (!isGateway || isSet || process.execve === undefined) return;
  try {
    process.execve(process.execPath, [process.argv0, ...words], { ...runtimeEnvironment, ...variables });
  } catch {
    // It runs with what the runtime does by default: fewer calls at once by `fetch`, longer pauses of its collector.
  }
}
