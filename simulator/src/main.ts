import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { readArkAccounts, readKlingKeys } from "./key-list.ts";
import { parseScript } from "./script.ts";
import { serveSimulator } from "./serve-simulator.ts";

/**
 * Runs the simulator as a process: bun simulator/src/main.ts [--port N] [--hostname H] [--truth FILE] [--script JSON]
 * [--aws-secret SECRET] [--google-public-key FILE] [--ark-key AK:SECRET[:API-KEY,…]]… [--kling-key AK:SECRET]…
 * The last two can also be set with SIMULATOR_ARK_KEYS and SIMULATOR_KLING_KEYS, separated by spaces.
 * Prints one line of JSON with its address once it listens. Stops on SIGTERM or SIGINT.
 */
if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "0" },
      hostname: { type: "string", default: "127.0.0.1" },
      truth: { type: "string" },
      script: { type: "string" },
      "aws-secret": { type: "string" },
      "google-public-key": { type: "string" },
      "ark-key": { type: "string", multiple: true },
      "kling-key": { type: "string", multiple: true },
    },
  });
  const publicKey = values["google-public-key"];
  const arkKeys = values["ark-key"] ?? wordsOf(process.env["SIMULATOR_ARK_KEYS"]);
  const klingKeys = values["kling-key"] ?? wordsOf(process.env["SIMULATOR_KLING_KEYS"]);
  const running = serveSimulator({
    port: Number(values.port),
    hostname: values.hostname,
    ...(values.truth === undefined ? {} : { truthFile: values.truth }),
    ...(values.script === undefined ? {} : { defaults: parseScript(values.script) }),
    ...(values["aws-secret"] === undefined ? {} : { awsSecret: values["aws-secret"] }),
    ...(publicKey === undefined ? {} : { googlePublicKey: readFileSync(publicKey, "utf8") }),
    ...(arkKeys.length === 0 ? {} : { arkAccounts: readArkAccounts(arkKeys) }),
    ...(klingKeys.length === 0 ? {} : { klingKeys: readKlingKeys(klingKeys) }),
  });
  console.log(JSON.stringify({ port: running.port, hostname: running.hostname, url: running.url }));
  const stop = (): void => {
    running.stop();
    process.exit(0);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

function wordsOf(text: string | undefined): readonly string[] {
  return (text ?? "").split(/\s+/).filter((word) => word !== "");
}
