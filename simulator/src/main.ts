import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { parseScript } from "./script.ts";
import { serveSimulator } from "./serve-simulator.ts";

/**
 * The simulator as a process: bun simulator/src/main.ts [--port N] [--hostname H] [--truth FILE] [--script JSON]
 * [--aws-secret SECRET] [--google-public-key FILE].
 * Prints one line of JSON with its address when it listens; ends on SIGTERM or SIGINT.
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
    },
  });
  const publicKey = values["google-public-key"];
  const running = serveSimulator({
    port: Number(values.port),
    hostname: values.hostname,
    ...(values.truth === undefined ? {} : { truthFile: values.truth }),
    ...(values.script === undefined ? {} : { defaults: parseScript(values.script) }),
    ...(values["aws-secret"] === undefined ? {} : { awsSecret: values["aws-secret"] }),
    ...(publicKey === undefined ? {} : { googlePublicKey: readFileSync(publicKey, "utf8") }),
  });
  console.log(JSON.stringify({ port: running.port, hostname: running.hostname, url: running.url }));
  const stop = (): void => {
    running.stop();
    process.exit(0);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}
